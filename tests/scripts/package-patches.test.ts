/** Tests load packages as the build does: through the plugins of scripts/package-patches.mjs. */
import {createRequire} from 'node:module';
import path from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import {expect, it} from 'vitest';
import {withFrameOutput} from '../../scripts/package-patches.mjs';
import {root} from '../support/run-cli.ts';

const OUTPUT = 'node_modules/ink/build/output.js';

it('tests draw by our class in the place of the one that Ink publishes', async () => {
  const file = path.join(root, OUTPUT);
  const {default: tested} = (await import(file)) as {default: unknown};
  const {default: published} = createRequire(import.meta.url)(file) as {default: unknown};
  expect(String(tested)).toContain('drawRows');
  expect(String(published)).toMatch(/^class Output /);
});

it('tests use packages without the parts that the bundle leaves out', () => {
  const client = new Anthropic({apiKey: 'x'});
  expect(() => client.beta.files.list()).toThrow('mini-cc is built without @anthropic-ai/sdk/resources/beta/');
});

it('a build fails when the text of Ink that a plugin changes is another one', () => {
  const {transform} = withFrameOutput(root);
  expect(() => transform.handler('export default class Frame {')).toThrow("Ink's output.js has changed");
});
