// npm run build: installs missing packages, and always builds dist/.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {ensureBuilt, ensurePackages, orExit} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

await orExit(async () => {
  await ensurePackages(root, {withTools: true});
  await ensureBuilt(root, {force: true});
});
