/** What the bundle leaves out of packages, see scripts/left-out.mjs. Bundles small programs by rolldown and runs them. */
import {randomUUID} from 'node:crypto';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import {rolldown} from 'rolldown';
import {afterAll, beforeAll, expect, it} from 'vitest';
import {withoutUnused} from '../../scripts/left-out.mjs';
import {root} from '../support/run-cli.ts';
import {emptyFolder, type Workspace} from '../support/workspace.ts';

let folder: Workspace;

beforeAll(async () => {
  folder = await emptyFolder();
});

afterAll(() => folder.remove());

/** @returns the text of the bundle, and what it exports */
async function bundle(code: string, leftOut: Record<string, readonly RegExp[]>) {
  const input = path.join(folder.path, 'program.mjs');
  writeFileSync(input, code);
  const modules = [path.join(root, 'node_modules')];
  const bundling = await rolldown({input, platform: 'node', resolve: {modules}, plugins: [withoutUnused(leftOut)]});
  // A name of its own: a module is loaded once.
  const file = path.join(folder.path, `${randomUUID()}.mjs`);
  const {output} = await bundling.write({file, codeSplitting: false});
  await bundling.close();
  return {text: output[0].code, run: (await import(pathToFileURL(file).href)) as Record<string, () => unknown>};
}

it('leaves resources out of a client, which works on and names what is missing only when that is called', async () => {
  const {text, run} = await bundle(
    `import Anthropic, {APIError} from '@anthropic-ai/sdk';
    const client = new Anthropic({apiKey: 'x'});
    export const path = () => typeof client.messages.create;
    export const beta = () => client.beta.sessions.events.list('x');
    export const error = () =>
      APIError.prototype.isPrototypeOf(Anthropic.BetaUnsupportedCharsetError.prototype);`,
    {'@anthropic-ai/sdk': [/^resources\/beta\//]},
  );
  expect(text).not.toContain('/v1/sessions');
  expect(run.path!()).toBe('function');
  expect(run.beta!).toThrow('built without @anthropic-ai/sdk/resources/beta/beta.mjs Beta.sessions.events.list');
  expect(run.error!()).toBe(true);
});

it('leaves modules out that are CommonJS', async () => {
  const {text, run} = await bundle(
    `import {CronExpressionParser} from 'cron-parser';
    export const parse = () => CronExpressionParser.parse('* * * * *');`,
    {'cron-parser': [/^dist\//]},
  );
  expect(text.length).toBeLessThan(2_000);
  expect(run.parse!).toThrow('built without cron-parser/dist/index.js CronExpressionParser.parse');
});

it('leaves no stub among tables that a package goes through, such as scripts for a server', async () => {
  const {text, run} = await bundle(
    `import * as scripts from 'bullmq/dist/esm/scripts/index.js';
    export const names = () => Object.values(scripts).map(({name, content}) => content && name);`,
    {bullmq: [/^dist\/esm\/scripts\/(?!getRanges|extendLock-)/]},
  );
  expect(text.length).toBeLessThan(6_000);
  expect(run.names!()).toEqual(['extendLock', 'getRanges']);
});

it('fails a build in which a left-out file is not met any more', async () => {
  await expect(bundle("import 'cron-parser';", {'cron-parser': [/^dist\//, /^lib\/gone/]})).rejects.toThrow(
    /no file \/\^lib\\\/gone\/ any more: look at scripts\/left-out\.mjs/,
  );
});

it('is left out of the packages that tests use, too', () => {
  const client = new Anthropic({apiKey: 'x'});
  expect(() => client.beta.files.list()).toThrow('mini-cc is built without @anthropic-ai/sdk/resources/beta/');
});
