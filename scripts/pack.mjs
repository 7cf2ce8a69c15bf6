// Runs as npm's hooks around `npm pack`; see manifest.mjs. The next pack, start, build or test repairs an aborted pack.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {SetupError} from './checkout.mjs';
import {publishManifest, restoreManifest} from './manifest.mjs';
import {ensureBuilt, ensurePackages, orExit} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const STEPS = {
  async prepack() {
    await ensurePackages(root);
    await ensureBuilt(root, {force: true});
    publishManifest(root);
  },
  async postpack() {
    if (restoreManifest(root)) return;
    throw new SetupError('another start put package.json back while npm packed: this package is wrong, pack again');
  },
  async prepublishOnly() {
    throw new SetupError('publish the packed file: npm pack && npm publish mini-cc-VERSION.tgz');
  },
};

await orExit(STEPS[process.argv[2]]);
