// npm start: sets up what is missing, then runs mini-cc where the user is. Nothing of set-up goes to standard output.
// Runs on the Node that is preinstalled (16 or newer); from the second start on that is the Node 24 among the packages,
// since npm puts node_modules/.bin first, and the program runs in this very process.
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {distIsFresh, findNode, nodeIsNewEnough, packagesFit} from './checkout.mjs';
import {environmentBeforeNpm} from './npm-environment.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const cli = path.join(root, 'dist', 'cli.js');
const args = process.argv.slice(2);

if (!packagesFit(root) || !distIsFresh(root) || findNode(root) === undefined) {
  const {orExit, setUp} = await import('./setup.mjs');
  await orExit(() => setUp(root));
}

// npm runs scripts in the package's folder, and says here where the user was.
const cwd = process.env.INIT_CWD && process.cwd() === root ? process.env.INIT_CWD : process.cwd();
const env = environmentBeforeNpm(process.env, root);
if (env.PWD !== undefined) env.PWD = cwd;

if (nodeIsNewEnough(process.versions.node)) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, cli, ...args];
  await import(pathToFileURL(cli).href);
} else {
  const {endLike, runChild} = await import('./child.mjs');
  endLike(await runChild(findNode(root), [cli, ...args], {cwd, env}));
}
