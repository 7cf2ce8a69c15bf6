import subprocess


def archive(folder, target):
    subprocess.run(f"tar czf {target} -- {folder}", shell=True, check=True)
