import {execFile} from 'node:child_process';

export function showLog(folder: string, done: (text: string) => void): void {
  execFile('git', ['log', '--oneline', '--max-count=20'], {cwd: folder}, (error, stdout) => done(error ? '' : stdout));
}
