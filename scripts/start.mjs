// npm start: sets up what is missing, then runs mini-cc in the user's folder. Set-up writes nothing to standard output.
// The first start runs on the preinstalled Node (16 or newer). Later starts run on the Node 24 among the packages,
// because npm puts node_modules/.bin first in PATH. Then the program runs in this same process.
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

// npm runs scripts in the package's folder; INIT_CWD is the folder in which the user called npm.
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
