// node scripts/run-source.mjs FILE [ARGUMENT…]: sets up like npm start, then runs a TypeScript file of the checkout.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {endLike, runChild} from './child.mjs';
import {orExit, setUp} from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const [file, ...args] = process.argv.slice(2);
const node = await orExit(() => setUp(root, {withTools: true}));
// Node has to transform the sources, because they use TypeScript syntax that cannot simply be erased (parameter
// properties).
const flags = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning'];
endLike(await runChild(node, [...flags, path.join(root, file), ...args]));
