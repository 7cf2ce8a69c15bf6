// npm run bundle: packs one archive that runs with Node 22.12 or newer on machines of the same kind, and needs no
// registry.
import {execFileSync} from 'node:child_process';
import {chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {printLine} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const {version} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const name = `mini-cc-${version}-${process.platform}-${process.arch}`;
const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-bundle-'));

try {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder]));
  const target = path.join(folder, name);
  mkdirSync(target);
  run('tar', ['xzf', path.join(folder, packed.filename), '--strip-components=1', '-C', target]);
  // ripgrep is the only dependency. Its program is in a separate package for each platform.
  for (const each of ['ripgrep', `ripgrep-${process.platform}-${process.arch}`]) {
    const own = path.join('node_modules', '@vscode', each);
    cpSync(path.join(root, own), path.join(target, own), {recursive: true});
  }
  const program = path.join(target, 'mini-cc');
  writeFileSync(program, '#!/bin/sh\nexec node "$(dirname "$(readlink -f "$0")")/dist/cli.js" "$@"\n');
  chmodSync(program, 0o755);
  const archive = path.join(process.cwd(), `${name}.tar.gz`);
  run('tar', ['czf', archive, '-C', folder, name]);
  printLine(`${archive}: unpack it anywhere and run ${name}/mini-cc, or link that file into a folder of your PATH`);
} finally {
  rmSync(folder, {recursive: true, force: true});
}

function run(program, args) {
  return execFileSync(program, args, {cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']});
}
