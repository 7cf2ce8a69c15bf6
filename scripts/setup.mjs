// Sets up a checkout: installs the locked packages and builds dist/ from the sources. Runs on the preinstalled Node (16
// or newer), writes its messages only to standard error, and does nothing when everything is in place.
import {appendFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync, writeSync} from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {distIsFresh, findNode, packagesFit, readIfThere, SetupError} from './checkout.mjs';
import {runChild} from './child.mjs';
import {restoreManifest} from './manifest.mjs';
import {environmentBeforeNpm} from './npm-environment.mjs';

/** A lock without an owner's process id is left from a crash when it is older than this. */
const NAMELESS_LOCK_MS = 5_000;
/** Maximum duration of a set-up. After it, a process with the owner's id must be another process. */
const MAX_LOCK_MS = 15 * 60_000;

/**
 * Installs the packages and builds dist/ if needed.
 * @param {string} root
 * @param {{withTools?: boolean}} [options] as of `packagesFit`
 * @returns {Promise<string>} the Node to run with
 * @throws {SetupError}
 */
export async function setUp(root, options) {
  const node = await ensurePackages(root, options);
  await ensureBuilt(root);
  return node;
}

/**
 * Installs the locked packages if they are missing.
 * @param {string} root
 * @param {{withTools?: boolean}} [options] as of `packagesFit`
 * @returns {Promise<string>} the Node to run with
 * @throws {SetupError}
 */
export async function ensurePackages(root, options = {}) {
  // An aborted `npm pack` leaves another package.json.
  restoreManifest(root);
  if (!packagesFit(root, options)) {
    await withSetupLock(
      root,
      async (addOwner) => packagesFit(root, options) || (await installPackages(root, options, addOwner)),
      printWaiting,
    );
  }
  const node = findNode(root);
  if (node === undefined) {
    throw new SetupError(
      `needs Node 22.12 or newer; this is ${process.versions.node}, and the Node 24 among the packages was not ` +
        'installed (does your npm leave optional packages out?). Run: npm ci --include=optional',
    );
  }
  return node;
}

async function installPackages(root, {withTools = false}, addOwner) {
  // `npm ci` would empty node_modules, from which another mini-cc may run. `npm install` only adds what is missing.
  const isPartlyDone = withTools && packagesFit(root);
  printLine(isPartlyDone ? 'installing the packages for tests' : 'installing packages (first start)');
  const [command, ...before] = findNpm(root);
  const env = environmentBeforeNpm(process.env, root);
  // Settings of the user, such as NODE_ENV, do not decide what is needed.
  const args = [
    ...before,
    ...(isPartlyDone ? ['install', '--no-save'] : ['ci']),
    withTools ? '--include=dev' : '--omit=dev',
    '--include=optional',
    // No package needs a script of its own to be installed.
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
    // These limits report a missing registry within seconds; npm's own waits add up to minutes.
    ...['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=2000'],
  ];
  const options = {cwd: root, env, stdio: ['ignore', 2, 2]};
  const probe = watchRegistry(env);
  const {code, signal} = await runChild(command, args, options, addOwner)
    .finally(() => probe.abort())
    .catch((error) => {
      throw new SetupError(`npm could not be started (${error.message}). Install npm, then start again.`);
    });
  if (signal !== null) throw new SetupError(`installing packages was ended by ${signal}. The next start tries again.`);
  if (code !== 0) {
    throw new SetupError(
      `installing packages failed: npm ended with exit code ${code}, its error is printed above. ` +
        'Solve that (can you reach the npm registry?) and start again. Without a registry: npm run bundle, on a machine ' +
        'that has one, makes an archive that needs none.',
    );
  }
  packagesFit(root, {withTools});
}

/** Seconds in which a registry that works has answered. npm itself waits for minutes. */
const REGISTRY_SECONDS = 15;

/** Asks the registry whether it is there, and says when it does not answer. Behind a proxy it asks nothing. */
function watchRegistry(env) {
  const probe = new AbortController();
  const registry = process.env.npm_config_registry ?? env.npm_config_registry ?? 'https://registry.npmjs.org/';
  const proxied = Object.keys(process.env).some((name) => /^(?:npm_config_)?https?[_-]proxy$/i.test(name));
  if (proxied) return probe;
  const late = setTimeout(() => {
    probe.abort();
    printLine(
      `the npm registry ${registry} has not answered for ${REGISTRY_SECONDS} s; npm goes on waiting for some minutes. ` +
        'Ctrl+C ends this. Another registry: npm_config_registry=URL npm start. Without one: npm run bundle, on a machine that has one.',
    );
  }, REGISTRY_SECONDS * 1000);
  late.unref();
  probe.signal.addEventListener('abort', () => clearTimeout(late));
  const get = registry.startsWith('http:') ? http.get : https.get;
  try {
    // A refused connection is npm's to report.
    get(new URL('-/ping', registry), {signal: probe.signal}, (answer) => {
      answer.resume();
      probe.abort();
    }).on('error', () => clearTimeout(late));
  } catch {
    probe.abort();
  }
  return probe;
}

/**
 * Finds the npm that started this process, and its Node. The Node in node_modules is never used, because npm is about
 * to replace it.
 */
function findNpm(root) {
  const {npm_execpath: npm, npm_node_execpath: node} = process.env;
  const usable = npm?.endsWith('.js') && node && existsSync(npm) && existsSync(node);
  return usable && !node.startsWith(path.join(root, 'node_modules')) ? [node, npm] : ['npm'];
}

/**
 * Builds dist/ if the sources have changed since the last build.
 * @param {string} root
 * @param {{force?: boolean}} [options] `force` always builds
 * @throws {SetupError}
 */
export async function ensureBuilt(root, {force = false} = {}) {
  if (!force && distIsFresh(root)) return;
  await withSetupLock(
    root,
    async () => {
      if (!force && distIsFresh(root)) return;
      printLine('building');
      const node = findNode(root);
      // The bundler runs in its own process, because this process would keep its memory while the program runs.
      const bundle = path.join(root, 'scripts', 'bundle.mjs');
      const {code, signal} = await runChild(node, [bundle], {cwd: root, stdio: ['ignore', 2, 2]});
      if (signal !== null) throw new SetupError(`building was ended by ${signal}. The next start tries again.`);
      if (code !== 0) throw new SetupError('building failed; the error is printed above.');
    },
    printWaiting,
  );
}

/**
 * Runs `work` while no other process sets up this checkout. The lock is a folder, because `mkdir` either makes it or
 * fails.
 * @template T
 * @param {string} root
 * @param {(addOwner: (pid: number) => void) => Promise<T>} work each process that it adds also owns the lock, because
 *   npm continues when only this process is killed
 * @param {() => void} [onWait] called once when another process has the lock
 * @returns {Promise<T>}
 */
export async function withSetupLock(root, work, onWait = () => undefined) {
  // git ignores dist/, and no command empties it, unlike node_modules, which npm ci empties.
  const lock = path.join(root, 'dist', '.setup-lock');
  mkdirSync(path.dirname(lock), {recursive: true});
  for (let waited = false; !takeLock(lock); waited = true) {
    if (!waited) onWait();
    await sleep(100);
    removeStaleLock(lock);
  }
  try {
    return await work((pid) => appendFileSync(ownersFile(lock), `${pid}\n`));
  } finally {
    rmSync(lock, {recursive: true, force: true});
  }
}

function takeLock(lock) {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(ownersFile(lock), `${process.pid}\n`);
  return true;
}

function removeStaleLock(lock) {
  const owners = readIfThere(ownersFile(lock));
  if (!isStale(lock, owners)) return;
  // The lock is renamed before it is removed, because only one of several waiting processes can rename it. If another
  // process took the lock in between, the renamed folder is not the stale one, and is renamed back.
  const renamed = `${lock}.${process.pid}`;
  try {
    renameSync(lock, renamed);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  if (readIfThere(ownersFile(renamed)) === owners) rmSync(renamed, {recursive: true, force: true});
  else renameSync(renamed, lock);
}

function ownersFile(lock) {
  return path.join(lock, 'owners');
}

function isStale(lock, owners) {
  const stats = statSync(lock, {throwIfNoEntry: false});
  if (stats === undefined) return false;
  const age = Date.now() - stats.mtimeMs;
  const pids = owners?.match(/\d+/g) ?? [];
  if (pids.length === 0) return age > NAMELESS_LOCK_MS;
  return age > MAX_LOCK_MS || !pids.some((pid) => isAlive(Number(pid)));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function printWaiting() {
  printLine('another start is setting up, waiting for it');
}

/**
 * Prints one line to standard error.
 * @param {string} line
 */
export function printLine(line) {
  try {
    writeSync(2, `mini-cc: ${line}\n`);
  } catch (error) {
    // The reader of standard error is gone or slow, so set-up continues without the message.
    if (error.code !== 'EPIPE' && error.code !== 'EAGAIN') throw error;
  }
}

/**
 * Runs `work`. A set-up error becomes one line and exit code 1.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function orExit(work) {
  try {
    return await work();
  } catch (error) {
    // For system errors, such as a full disk or another user's folder, the system's own message names the path.
    if (!(error instanceof SetupError) && error.syscall === undefined) throw error;
    printLine(error.message);
    return process.exit(1);
  }
}
