/** Arguments, settings and variables that are wrong: each is one line that names it, before any call of a model. */
import path from 'node:path';
import {expect, test} from 'vitest';
import {parseArguments} from '../../src/cli/arguments.ts';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import {composeParts} from '../../src/compose/session.ts';
import {UsageError} from '../../src/core/util/errors.ts';
import {makeFolders, USER} from '../config/fixture.ts';

/** Does what `main` does up to the first prompt of print mode. @returns the error of usage */
async function start(args: readonly string[], settings: object, env: Readonly<Record<string, string>>) {
  const {home, cwd} = makeFolders({[USER]: settings});
  const variables = {HOME: path.dirname(home), ANTHROPIC_API_KEY: 'test-key', EMPTY: '', ...env};
  try {
    const {session} = parseArguments(['-p', 'x', ...args], variables, () => cwd, ALL_TOOLS);
    await composeParts({...session, env: variables, home, interactive: false});
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'it started';
}

test.each([
  [['--max-turns', 'many'], /--max-turns takes a whole number from 1 on/],
  [
    ['--output-format', 'yaml'],
    /Unknown value for flag `--output-format`: `yaml`\. Value must be one of: \[`text`, `json`, `stream-json`\]/,
  ],
  [['--permission-mode', 'yolo'], /Unknown value for flag `--permission-mode`: `yolo`/],
  [['--bogus'], /Unknown flag --bogus\. --help lists them$/],
  [['--modle', 'x'], /Unknown flag --modle \(did you mean --model\?\)/],
  [['--mcp-config', 'gone.json'], /--mcp-config: there is no file .*gone\.json/],
  [['--max-budget-usd', 'much'], /--max-budget-usd takes /],
  [['--json-schema', 'x'], /--json-schema .*x does not exist/],
  [['--agents', '{"x": {"prompt": 7}}'], /--agents:1:\d+: /],
  [['--fan-out', 'all'], /Unknown value for flag `--fan-out`: `all`/],
  [['--cwd', '/nowhere'], /No such directory: \/nowhere/],
  [['--add-dir', '/nowhere'], /No such directory: \/nowhere/],
  [['--allowed-tools', 'bash(npm test'], /no closing bracket \(did you mean "bash\(npm test\)"\?\)/],
  [['--allowed-tools', 'bash('], /--allowed-tools: "bash\(" has no closing bracket/],
  [['--disallowed-tools', 'web_fetch(example.com)'], /did you mean web_fetch\(domain:example\.com\)\?/],
  [['--session-id', 'x'], /--session-id: not a UUID/],
  [['--resume', '../../etc'], /Not a session id/],
  [['--continue'], /no session to continue/],
])('%j is bad usage', async (args, words) => {
  const error = await start(args, {}, {});
  expect(error).toMatch(words);
  expect(error).not.toContain('\n');
});

test.each([
  [{providers: {x: {local: true}}}, [], /providers\.x\.baseURL: is missing/],
  [{providers: {x: {baseURL: 'nonsense'}}}, [], /providers\.x\.baseURL: must be the address of a server/],
  [
    {providers: {x: {baseURL: 'http://127.0.0.1:1', apiKeyEnv: 'EMPTY'}}},
    ['--model', 'x/m'],
    /EMPTY.* is not set or empty/,
  ],
  [{}, ['--model', 'glm/glm-4.7'], /"glm\/glm-4\.7" cannot be used: there is no such provider/],
  [{model: 'nosuch/m'}, [], /"nosuch\/m" cannot be used/],
  [{}, ['--fallback-model', 'nosuch/m'], /fallback: .*"nosuch\/m" cannot be used/],
  [{}, ['--effort', 'huge'], /effort/],
  [{pricing: {'glm/glm-4.7': {input: -1, output: 2}}}, [], /pricing\."glm\/glm-4\.7"\.input: must be US dollars/],
  [{providers: {x: {baseURL: 'http://127.0.0.1:1', api: 'soap'}}}, [], /providers\.x\.api: must be/],
  [{}, ['--json-schema', '{"type": "strnig"}'], /--json-schema is no JSON Schema: /],
  [{}, ['--json-schema', '7'], /--json-schema/],
  [{}, ['--json-schema', 'missing.json'], /missing\.json/],
  [{}, ['--max-budget-usd', '-1'], /max-budget-usd/],
  [{agents: {explore: {thinking: 'much'}}}, [], /agents\.explore\.thinking: must be off, low, medium or high/],
  [{roles: {explore: {thinking: 3}}}, [], /roles\.explore\.thinking: must be off, low, medium or high/],
  [{}, [], /ANTHROPIC_BASE_URL is not a URL/, {ANTHROPIC_BASE_URL: 'nowhere'}],
])('%j with %j is bad usage', async (settings, args, words, env: Readonly<Record<string, string>> = {}) => {
  const error = await start(args, settings, env);
  expect(error).toMatch(words);
  expect(error).not.toContain('\n');
});
