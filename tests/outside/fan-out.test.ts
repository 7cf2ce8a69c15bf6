/** A fan-out of the built-in model over a real project of 251 TypeScript files: `npm run test:outside`. */
import {createHash} from 'node:crypto';
import {cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {home} from '../e2e/fixture.ts';
import {root, runCli} from '../support/run-cli.ts';
import {run, unpack} from './downloads.ts';
import {ASKED_PROJECTS} from './projects.ts';

const RXJS = ASKED_PROJECTS.find(({name}) => name.startsWith('rxjs'))!;
/** The project's settings for the compiler of today. One file does not agree with its newer types. */
const CHECK = {
  compilerOptions: {
    ...{strict: true, noEmit: true, target: 'es2019', module: 'esnext', moduleResolution: 'bundler'},
    ...{lib: ['esnext', 'dom'], types: [], paths: {rxjs: ['./src/index.ts'], 'rxjs/*': ['./src/*']}},
  },
  include: ['src/**/*.ts'],
  exclude: ['src/internal/umd.ts'],
};
const OPTIONS = ['--offline', '--permission-mode', 'acceptEdits'];

function hashSources(folder: string): string {
  const hash = createHash('sha256');
  for (const file of run('git', ['ls-files', '-z'], folder).split('\0').filter(Boolean)) {
    hash.update(file).update(readFileSync(path.join(folder, file)));
  }
  return hash.digest('hex');
}

function makeProject() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-rxjs-')));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const [folder, copy] = [path.join(base, 'parts'), path.join(base, 'one')];
  unpack(RXJS, base, folder);
  rmSync(path.join(folder, 'dist'), {recursive: true});
  writeFileSync(path.join(folder, 'tsconfig.check.json'), JSON.stringify(CHECK));
  run('git', ['init', '-q'], folder);
  run('git', ['add', '-A'], folder);
  run('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'rxjs'], folder);
  cpSync(folder, copy, {recursive: true});
  return {folder, copy};
}

it(
  'renames a function of rxjs in parts, as one agent would, verified by its types, and takes it back',
  async () => {
    const [{folder, copy}, place] = [makeProject(), await home()];
    const before = hashSources(folder);
    expect(run('git', ['ls-files', '*.ts'], folder).split('\n').length).toBeGreaterThan(200);
    const check = `${path.join(root, 'node_modules/.bin/tsc')} -p tsconfig.check.json`;
    const settings = JSON.stringify({verify: {level: 'fast', fast: [check]}});
    const args = ['--fan-out', 'auto', '--settings', settings, '--allowed-tools', `bash(${check})`];
    const parts = await runCli(
      ['-p', 'Rename operate to defineOperator in all files', ...OPTIONS, ...args, '--output-format', 'json'],
      {cwd: folder, home: place, timeoutMs: 180_000},
    );
    const result = JSON.parse(parts.stdout);
    expect(result.subagentResults).toEqual({total: 3, successful: 3, failed: 0, filesModified: 70});
    expect(result.result).toContain(`verification: \`${check}\` fails as it did before`);
    expect(result.subagents.map(({tools}: {tools: number}) => tools).every((tools: number) => tools > 0)).toBe(true);
    expect(parts.stderr).toMatch(/\[code\] part 1 of 3, 84 files - done \(\d+ tools, /);
    const one = await runCli(['-p', 'Rename operate to defineOperator', ...OPTIONS, '--fan-out', 'off'], {
      ...{cwd: copy, home: place, timeoutMs: 180_000},
    });
    expect(one.code).toBe(0);
    expect(hashSources(folder)).toBe(hashSources(copy));
    expect(hashSources(folder)).not.toBe(before);
    await runCli(['-p', '--continue', '/fanout undo', ...OPTIONS], {cwd: folder, home: place});
    expect(hashSources(folder)).toBe(before);
  },
  5 * 60_000,
);
