/** What `mini-cc review --sarif` writes, against the schema of SARIF 2.1.0, which comes with a package of npm. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {Ajv} from 'ajv';
import {expect, onTestFinished, test} from 'vitest';
import {changedProject, finding, reviewers} from '../e2e/review-fixture.ts';
import {callTool, type Script, startMessagesServer} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';
import {downloadsFolder, unpack} from './downloads.ts';

const SCHEMA = {
  from: {npm: '@microsoft/jest-sarif@1.0.0-beta.0'},
  file: /^microsoft-jest-sarif-1\.0\.0-beta\.0\.tgz$/,
  sha256: '748e2c3d1a842e7bb258416685c7ea3a0da40005b72267b2052c2856d48ad102',
} as const;

/** Formats that the schema names, as their standards have them. */
const FORMATS = {
  uri: (text: string) => URL.canParse(text),
  'uri-reference': /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\dA-F]{2})*$/i,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/,
};

async function loadSchema() {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  const unpacked = path.join(folder.path, 'package');
  unpack(SCHEMA, downloadsFolder(folder.path), unpacked);
  const text = readFileSync(path.join(unpacked, 'lib/schemas/sarif-2.1.0-rtm.5.json'), 'utf8');
  // Ajv reads a later draft of JSON Schema. The two differ in nothing else that this schema uses.
  const {$schema: _, id: _id, ...schema} = JSON.parse(text);
  return new Ajv({strict: false, allErrors: true, unicodeRegExp: false, formats: FORMATS}).compile(schema);
}

test('SARIF of findings, of none, of a review that is not complete, and of the offline model passes the schema', async () => {
  const validate = await loadSchema();
  const workspace = await changedProject();
  const odd = 'src/a b#é%20?.ts';
  await workspace.write(odd, "import {other} from './x.ts';\n");
  const findings = [
    finding('Charges "twice" <b>', {endLine: 3, suggestion: 'Do it once.'}),
    finding('Odd name', {file: odd, line: 1, severity: 'medium'}),
    finding('Minor', {line: 6, severity: 'low'}),
  ];
  const write = async (script: Script, ...args: string[]) => {
    const server = await startMessagesServer(script);
    onTestFinished(server.close);
    await runCli(['review', '--sarif', 'out.sarif', ...args], {cwd: workspace.path, server});
    const sarif = JSON.parse(await workspace.read('out.sarif'));
    expect(validate(sarif), JSON.stringify(validate.errors, null, 1)).toBe(true);
    return sarif.runs[0];
  };
  const all = await write(
    reviewers(findings, () => 'confirmed'),
    'src',
  );
  const uris = all.results.map(
    ({locations}: {locations: {physicalLocation: {artifactLocation: {uri: string}}}[]}) =>
      locations[0]!.physicalLocation.artifactLocation.uri,
  );
  expect(uris.sort()).toEqual(['src/a%20b%23%C3%A9%2520%3F.ts', 'src/pay.ts', 'src/pay.ts']);
  expect(
    (
      await write(
        reviewers([], () => 'refuted'),
        'src',
      )
    ).results,
  ).toEqual([]);
  const wrong = await write(() => callTool('StructuredOutput', {findings: 'none'}), 'src', '--finders', 'api');
  expect(wrong.invocations[0].executionSuccessful).toBe(false);
  expect(
    (
      await write(
        reviewers([], () => 'refuted'),
        '--offline',
        'src',
      )
    ).results,
  ).toHaveLength(1);
  expect(
    (
      await write(
        reviewers([], () => 'refuted'),
        'src/shop.ts',
      )
    ).results,
  ).toEqual([]);
  // The schema refuses what is wrong.
  expect(validate({version: '2.1.0', runs: [{...all, results: [{...all.results[0], level: 'high'}]}]})).toBe(false);
});
