// Bundles a copy of the checkout with mutants. It runs in its own process, because the bundler keeps much memory.
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {withMutants} from './plugin.mjs';

/** @type {import('./plugin.mjs').Plan} */
const plan = JSON.parse(readFileSync(process.env.MINI_CC_MUTANTS, 'utf8'));
const {bundle} = await import(pathToFileURL(path.join(plan.root, 'scripts/bundle.mjs')).href);
await bundle(plan.root, withMutants(plan));
