/** Where keys live: hidden from confined commands, and never read without a question. */
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
  // Not named in the documentation one by one, and of the same kind.
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

/** Absolute. @param miniCcHome sessions and settings of mini-cc */
export function getSecretPaths(home: string, miniCcHome: string): string[] {
  return [...[...KEYS, ...BROWSER_PROFILES].map((place) => path.resolve(home, place)), path.resolve(miniCcHome)];
}
