// npm run test:oldest-node: runs the tests that use mini-cc like users and programs do on the oldest Node that
// `engines` allows. The other tests take too long to run twice.
import {existsSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {OLDEST_NODE} from './checkout.mjs';
import {endLike, runChild} from './child.mjs';
import {orExit, printLine, setUp} from './setup.mjs';

const FOLDERS = ['tests/e2e', 'tests/library', 'tests/drivers'];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await orExit(() => setUp(root, {withTools: true}));
const version = [...OLDEST_NODE, 0].join('.');
const folder = path.join(root, 'node_modules', '.cache', `node-${version}`);
const node = path.join(folder, 'node_modules', 'node', 'bin', 'node');
if (!existsSync(node)) {
  printLine(`installing Node ${version}`);
  const {code} = await runChild('npm', [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--no-audit',
    '--no-fund',
    `node@${version}`,
  ]);
  if (code !== 0 || !existsSync(node)) {
    printLine(`Node ${version} could not be installed from the npm registry`);
    process.exit(1);
  }
}
const args = process.argv.length > 2 ? process.argv.slice(2) : FOLDERS;
endLike(await runChild(node, [path.join(root, 'scripts', 'test.mjs'), ...args], {cwd: root}));
