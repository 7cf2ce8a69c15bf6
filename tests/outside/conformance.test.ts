/**
 * The conformance suite of the Model Context Protocol against our side of it: every scenario for clients, each with a server
 * of the suite. From npm, by its checksum. `npm run test:outside`; it needs the network.
 */
import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import PQueue from 'p-queue';
import {rolldown} from 'rolldown';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {installPackages} from './downloads.ts';

const SUITE = {
  '@modelcontextprotocol/conformance@0.2.0-alpha.12':
    'sha512-eXtZFgmtZiU5SsvXty+RGXGnyIqEVm3GLU/HZmg1wMjtKOocPZZgD9HQKd30oJhio5UB0wFJmsc6r8u48Q+EYA==',
};
const MINUTES = 60_000;

/** Scenarios that do not pass. docs/extensions.md says why. */
const MISSING = [
  'auth/basic-cimd',
  'auth/client-credentials-jwt',
  'auth/dpop',
  'auth/dpop-nonce',
  'auth/enterprise-managed-authorization',
  'auth/wif-jwt-bearer',
  'json-schema-2020-12-preservation',
];

const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-conformance-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));
const suite = path.join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const client = path.join(folder, 'client');

beforeAll(async () => {
  installPackages(SUITE, folder);
  const bundle = await rolldown({input: path.join(import.meta.dirname, 'conformance-client.ts'), platform: 'node'});
  await bundle.write({dir: client, entryFileNames: 'client.mjs', chunkFileNames: '[name]-[hash].mjs'});
  await bundle.close();
}, 5 * MINUTES);

/** @returns what the suite printed when it failed */
async function tryScenario(name: string): Promise<string | undefined> {
  const home = mkdtempSync(path.join(folder, 'home-'));
  mkdirSync(path.join(folder, 'results'), {recursive: true});
  const command = `${process.execPath} ${path.join(client, 'client.mjs')}`;
  const args = [suite, 'client', '--command', command, '--scenario', name, '-o', path.join(folder, 'results')];
  const options = {cwd: folder, env: {CONFORMANCE_HOME: home, NO_COLOR: '1'}, all: true, reject: false} as const;
  const {exitCode, all} = await execa(process.execPath, [...args, '--timeout', '60000'], options);
  return exitCode === 0 ? undefined : all;
}

test(
  'the scenarios for clients pass, but for those that are named',
  async () => {
    const {stdout} = await execa(process.execPath, [suite, 'list'], {cwd: folder});
    const [, listed = ''] = /^Client scenarios.*\n((?: {2}- .*\n)+)/m.exec(stdout) ?? [];
    const names = [...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
    expect(names).toHaveLength(48);
    // A scenario waits more than it works.
    const queue = new PQueue({concurrency: 4});
    const tried = await queue.addAll(
      names.map((name) => async () => ((await tryScenario(name)) === undefined ? '' : name)),
    );
    const failed = tried.filter(Boolean);
    const problems: string[] = [];
    // Some scenarios measure time, so a slow machine gets a second try.
    for (const name of failed.filter((each) => !MISSING.includes(each))) {
      const said = await tryScenario(name);
      if (said !== undefined) problems.push(`${name}\n${said}`);
    }
    expect(problems).toEqual([]);
    expect(MISSING.filter((name) => !failed.includes(name))).toEqual([]);
  },
  30 * MINUTES,
);
