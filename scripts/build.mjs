// npm run build: builds dist/ in any case.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {ensureBuilt, ensurePackages, orSay} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

await orSay(async () => {
  await ensurePackages(root);
  await ensureBuilt(root, {force: true});
});
