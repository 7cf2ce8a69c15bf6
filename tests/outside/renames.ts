/**
 * Renames of the offline model in real projects: the project's own check passes as before, or nothing was changed and the
 * answer says why. `node tests/outside/renames.ts` prints what became of each.
 */
import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {execaSync} from 'execa';
import {createUserEnvironment} from '../support/environment.ts';
import {prepareDownloads, unpackProject} from './ask-projects.ts';
import {run} from './downloads.ts';
import {ASKED_PROJECTS} from './projects.ts';

const CLI = process.env.MINI_CC_CLI ?? path.resolve(import.meta.dirname, '../../dist/cli.js');

interface Renames {
  readonly project: string;
  /** Fails when the project is broken. `TOOLS` is the folder of the TypeScript compiler. */
  readonly check: string;
  readonly renames: readonly (readonly [string, string])[];
}

export const RENAMES: readonly Renames[] = [
  {
    project: 'tinyxml2',
    check: 'g++ -Wall -o ../xmltest xmltest.cpp tinyxml2.cpp && ../xmltest | tail -1 | grep "Fail 0"',
    renames: [
      ['SetBoolSerialization', 'SetBoolStrings'],
      ['ConvertUTF32ToUTF8', 'EncodeUTF8'],
      ['Parse', 'Read'],
    ],
  },
  {
    project: 'jansson',
    check:
      'cmake -S . -B ../jansson-build -DJANSSON_BUILD_DOCS=OFF >../log 2>&1 && cmake --build ../jansson-build >../log 2>&1 && cd ../jansson-build && ctest -Q',
    renames: [
      ['utf8_check_first', 'utf8_first_byte'],
      ['strbuffer_steal_value', 'strbuffer_take_value'],
      ['json_object', 'json_new_object'],
    ],
  },
  {
    project: 'rxjs',
    check:
      '"$TOOLS/node_modules/.bin/tsc" --noEmit --skipLibCheck --target es2020 --moduleResolution node --strict src/index.ts',
    renames: [
      ['createErrorClass', 'makeErrorClass'],
      ['isScheduler', 'isAnyScheduler'],
      ['subscribe', 'listen'],
    ],
  },
  {
    project: 'commons-csv',
    check: 'rm -rf ../classes && mkdir ../classes && javac -nowarn -d ../classes $(find src/main -name "*.java")',
    renames: [
      ['isLineBreak', 'isEndOfLine'],
      ['ExtendedBufferedReader', 'CountingReader'],
      ['getValue', 'valueOf'],
    ],
  },
  {
    project: 'jinja2',
    check:
      'python3 -m compileall -q src && python3 -c "import sys, types; sys.path.insert(0, \'src\'); import ast; [ast.parse(open(f).read()) for f in sys.argv[1:]]" $(git ls-files "*.py")',
    renames: [
      ['open_if_exists', 'open_when_there'],
      ['has_safe_repr', 'is_repr_safe'],
      ['get', 'fetch'],
    ],
  },
];

export interface Renamed {
  readonly project: string;
  readonly rename: string;
  readonly answer: string;
  readonly changed: boolean;
  /** The check passes afterwards. */
  readonly passes: boolean;
}

export function tryRenames({project, check, renames}: Renames, downloads: string, base: string): readonly Renamed[] {
  const found = ASKED_PROJECTS.find((one) => one.name.startsWith(project))!;
  const root = unpackProject(found, downloads, base);
  const home = path.join(base, 'home');
  mkdirSync(home, {recursive: true});
  const env = {...createUserEnvironment(), HOME: home, MINI_CC_HOME: home, TOOLS: path.join(downloads, 'tools')};
  const passes = () => execaSync('bash', ['-c', check], {cwd: root, env, reject: false}).exitCode === 0;
  if (!passes()) throw new Error(`The check of ${project} fails before any change: ${check}`);
  return renames.map(([from, to]) => {
    const prompt = `rename ${from} to ${to}`;
    const args = [CLI, '-p', prompt, '--offline', '--permission-mode', 'acceptEdits'];
    const ended = execaSync(process.execPath, args, {
      cwd: root,
      env,
      extendEnv: false,
      reject: false,
      timeout: 300_000,
    });
    const changed = run('git', ['status', '--porcelain', '--untracked-files=no'], root) !== '';
    const result = {project, rename: prompt, answer: ended.stdout, changed, passes: passes()};
    run('git', ['checkout', '--quiet', '.'], root);
    return result;
  });
}

function main(): void {
  const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-renames-'));
  const downloads = process.env.MINI_CC_DOWNLOADS ?? path.join(base, 'downloads');
  try {
    prepareDownloads(downloads);
    for (const each of RENAMES)
      for (const {project, rename, answer, changed, passes} of tryRenames(each, downloads, base))
        console.log(
          `== ${project}: ${rename}: ${changed ? 'changed' : 'refused'}, check ${passes ? 'passes' : 'FAILS'}\n${answer.slice(0, 700)}\n`,
        );
  } finally {
    rmSync(base, {recursive: true, force: true});
  }
}

if (process.argv[1] === import.meta.filename) main();
