// node scripts/make-homes.mjs [NAME…]: recreates tests/fixtures/homes with the current program. See
// tests/support/make-homes.ts.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {endLike, runChild} from './child.mjs';
import {orExit, setUp} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const node = await orExit(() => setUp(root, {withTools: true}));
const flags = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning'];
const args = [...flags, path.join(root, 'tests', 'support', 'make-homes.ts'), ...process.argv.slice(2)];
endLike(await runChild(node, args));
