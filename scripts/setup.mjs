// Sets a checkout up: packages as locked, dist/ as built from the sources. Runs on the Node that is preinstalled (16 or
// newer), says everything on standard error, and does nothing where nothing is to be done.
import {existsSync, writeSync} from 'node:fs';
import path from 'node:path';
import {runChild} from './child.mjs';
import {distIsFresh} from './freshness.mjs';
import {environmentBeforeNpm} from './npm-environment.mjs';
import {findNode, packagesFit} from './packages.mjs';
import {withSetupLock} from './setup-lock.mjs';

/** What went wrong in one line that a person can act on. */
export class SetupError extends Error {}

/** Packages and dist/, both. @returns {Promise<string>} the Node to run with */
export async function setUp(root) {
  const node = await ensurePackages(root);
  await ensureBuilt(root);
  return node;
}

/**
 * Installs what is locked, if it is not there.
 * @returns {Promise<string>} the Node to run with
 * @throws {SetupError}
 */
export async function ensurePackages(root) {
  if (!packagesFit(root)) {
    await withSetupLock(
      root,
      async (alsoOwnedBy) => packagesFit(root) || (await installPackages(root, alsoOwnedBy)),
      sayWaiting,
    );
  }
  const node = findNode(root);
  if (node === undefined) {
    throw new SetupError(
      `needs Node 22.12 or newer; this is ${process.versions.node}, and the Node 24 among the packages was not ` +
        'installed (are install scripts switched off?). Run: npm rebuild node --ignore-scripts=false',
    );
  }
  return node;
}

async function installPackages(root, alsoOwnedBy) {
  say('installing packages (first start)');
  const [command, ...before] = findNpm(root);
  const env = environmentBeforeNpm(process.env, root);
  // Building needs the development packages, also where NODE_ENV is production.
  const args = [
    ...before,
    'ci',
    '--include=dev',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
  ];
  const options = {cwd: root, env, stdio: ['ignore', 2, 2]};
  const {code, signal} = await runChild(command, args, options, alsoOwnedBy).catch((error) => {
    throw new SetupError(`npm could not be started (${error.message}). Install npm, then start again.`);
  });
  if (signal !== null) throw new SetupError(`installing packages was ended by ${signal}. The next start tries again.`);
  if (code !== 0) {
    throw new SetupError(
      `installing packages failed (npm ci ended with ${code}; its reason stands above). ` +
        'Mend that (is the npm registry in reach?) and start again.',
    );
  }
  packagesFit(root);
}

/** The npm that started us, on the Node that it runs on; never the Node in node_modules, which npm is about to replace. */
function findNpm(root) {
  const {npm_execpath: npm, npm_node_execpath: node} = process.env;
  const usable = npm?.endsWith('.js') && node && existsSync(npm) && existsSync(node);
  return usable && !node.startsWith(path.join(root, 'node_modules')) ? [node, npm] : ['npm'];
}

/**
 * Builds dist/ where it is not what the sources are now.
 * @param {{force?: boolean}} [options] `force` builds in any case
 * @throws {SetupError}
 */
export async function ensureBuilt(root, {force = false} = {}) {
  if (!force && distIsFresh(root)) return;
  await withSetupLock(
    root,
    async () => {
      if (!force && distIsFresh(root)) return;
      say('building');
      const node = findNode(root);
      // In a process of its own: the bundler's memory would stay with the program.
      const bundle = path.join(root, 'scripts', 'bundle.mjs');
      const {code, signal} = await runChild(node, [bundle], {cwd: root, stdio: ['ignore', 2, 2]});
      if (signal !== null) throw new SetupError(`building was ended by ${signal}. The next start tries again.`);
      if (code !== 0) throw new SetupError('building failed; the reason stands above.');
    },
    sayWaiting,
  );
}

function sayWaiting() {
  say('another start is setting up, waiting for it');
}

/** One line on standard error. */
export function say(line) {
  try {
    writeSync(2, `mini-cc: ${line}\n`);
  } catch (error) {
    // Nobody listens any more: what is to be done is done all the same.
    if (error.code !== 'EPIPE' && error.code !== 'EAGAIN') throw error;
  }
}

/** Runs `work`; what set-up could not do becomes one line and exit code 1. */
export async function orSay(work) {
  try {
    return await work();
  } catch (error) {
    // A full disk or a folder of someone else: the system's own words name the path.
    if (!(error instanceof SetupError) && error.syscall === undefined) throw error;
    say(error.message);
    process.exit(1);
  }
}
