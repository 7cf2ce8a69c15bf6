/** The peers as npm installs them. */
import {execFileSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {isOnPath, type ProgramName} from './programs.ts';

/** Newer versions of Pi name packages that the registry does not have. */
const PACKAGES: Readonly<Record<Exclude<ProgramName, 'mini-cc'>, string>> = {
  claude: '@anthropic-ai/claude-code@2.1.330',
  codex: '@openai/codex@0.169.0',
  pi: '@earendil-works/pi-coding-agent@0.87.1',
};

/** Puts peers on PATH that are not there: installs them into a folder of the user's cache, once. */
export function providePeers(onProgress: (text: string) => void): void {
  const folder = path.join(homedir(), '.cache', 'mini-cc-peers');
  const {PATH = ''} = process.env;
  process.env.PATH = `${PATH}${path.delimiter}${path.join(folder, 'node_modules', '.bin')}`;
  const missing = Object.entries(PACKAGES).filter(([name]) => !isOnPath(name));
  if (missing.length === 0) return;
  const packages = missing.map(([, spec]) => spec);
  onProgress(`npm installs ${packages.join(', ')} into ${folder}`);
  mkdirSync(folder, {recursive: true});
  execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
