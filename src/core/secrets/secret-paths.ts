/** The files and folders that contain keys: hidden from confined commands, and never read without a question. */
import path from 'node:path';

const KEYS = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.config/gcloud',
  '.azure',
  '.kube',
  '.docker',
  '.netrc',
  '.git-credentials',
  '.npmrc',
  // The documentation does not name the following ones, but they contain keys, too.
  '.config/gh',
  '.config/git/credentials',
  '.cargo/credentials.toml',
  '.pypirc',
  '.password-store',
  '.local/share/keyrings',
];

const BROWSER_PROFILES = [
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  '.config/microsoft-edge',
  '.config/BraveSoftware',
  'snap/firefox',
  'snap/chromium',
  '.var/app/org.mozilla.firefox',
];

/** @param miniCcHome the folder with sessions and settings of mini-cc. @returns absolute paths */
export function getSecretPaths(home: string, miniCcHome: string): string[] {
  return [...[...KEYS, ...BROWSER_PROFILES].map((each) => path.resolve(home, each)), path.resolve(miniCcHome)];
}
