/** Each file in examples/ runs by the command that it states, without a key, and prints what it shows. */
import {execFile} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import {beforeAll, expect, it, onTestFinished} from 'vitest';
import {createHome, createUserEnvironment} from '../support/environment.ts';
import {buildOnce, root} from '../support/run-cli.ts';
import {PATIENCE_MS} from '../support/wait.ts';
import {emptyFolder} from '../support/workspace.ts';

/** What a run prints, without what is on the lines around it. */
const PRINTED: Readonly<Record<string, readonly string[]>> = {
  '01-spawn.mjs': ['success: true', 'tools: symbols', 'summary: src/greet.js:2', 'src/main.js:1'],
  '02-spawn-parallel.mjs': [
    '- src/greet.js:2',
    '2. 2 files in src:',
    '3. Invalid agent_type: "exploer". Did you mean "explore"? Valid types: explore, code, plan, critic',
  ],
  '03-custom-agent.mjs': ['Review of src/main.js', 'src/main.js:3 — `// TODO: read the name from the command line`'],
  '04-background.mjs': [
    'at work or waiting: 2',
    'stopped: true\nsecond: stopped\nfirst: success\nsent: resumed\n2 files in src:',
  ],
  '05-events.mjs': ['explore starts: Read src/greet.js\n  read_file src/greet.js\nsuccess after 1 tool call\n'],
  '06-permissions.mjs': [
    'refused: Permission denied: edit_file writes src/greet.js',
    'default: changed files: 0, the greeting: Hello',
    'acceptEdits: changed files: 1, the greeting: Welcome',
  ],
  '07-run-agent.mjs': ['success after 2 model calls\nThe tool says: It is sunny in Lisbon.\n'],
  '08-print-mode.mjs': ['result success\nturns: 2 cost: 0\nsrc/greet.js:2'],
};

const files = readdirSync(path.join(root, 'examples')).filter((file) => /^\d\d-.*\.mjs$/.test(file));

beforeAll(buildOnce);

it('has no example without a test', () => {
  expect(files).toEqual(Object.keys(PRINTED));
});

it.each(files)('%s runs offline by its command and prints what it shows', async (file) => {
  const source = readFileSync(path.join(root, 'examples', file), 'utf8');
  expect(source).toContain(`\n// Run: node examples/${file}\n`);
  const [home, temporary] = [await createHome(), await emptyFolder()];
  onTestFinished(async () => void (await Promise.all([home.remove(), temporary.remove()])));
  const env = {...createUserEnvironment(), ...home.env, TMPDIR: temporary.path} as NodeJS.ProcessEnv;
  const options = {cwd: root, env, timeout: 2 * PATIENCE_MS};
  const {stdout, stderr} = await promisify(execFile)(process.execPath, [`examples/${file}`], options);
  expect(stderr).toBe('');
  for (const text of PRINTED[file] ?? []) expect(stdout).toContain(text);
});
