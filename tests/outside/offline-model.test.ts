/**
 * The offline model in twelve real projects of eleven languages: 20 questions each, marked against Universal Ctags and
 * parsers of the languages, and renames in five of them. `npm run test:outside`; it needs the network, ctags, python3, gcc,
 * g++, cmake and javac, all of them in Debian. The table in docs/offline-model.md is what this test measures.
 */
import {mkdtempSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {askProject, countMarks, prepareDownloads} from './ask-projects.ts';
import {ASKED_PROJECTS} from './projects.ts';
import {RENAMES, tryRenames} from './renames.ts';

const MINUTES = 60_000;
const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-outside-'));
const downloads = process.env.MINI_CC_DOWNLOADS ?? path.join(base, 'downloads');
const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/offline-model.md'), 'utf8');

beforeAll(() => prepareDownloads(downloads), 5 * MINUTES);
afterAll(() => rmSync(base, {recursive: true, force: true}));

test.each(ASKED_PROJECTS)(
  '$name, in $language: no answer is wrong, at least four of five are right, and the documentation says how many',
  (project) => {
    const marked = askProject(project, downloads, base);
    const {right} = countMarks(marked);
    expect(marked).toHaveLength(20);
    expect(marked.filter(({mark}) => mark === 'wrong').map(({question}) => question.turns)).toEqual([]);
    expect(right).toBeGreaterThanOrEqual(16);
    const row = new RegExp(`\\| ${project.name.replaceAll('.', '[.]')} \\| [^|]+ \\| (\\d+) \\|`);
    const documented = Number(row.exec(page)?.[1]);
    // A question more or less may be answered by another version of a parser.
    expect(Math.abs(documented - right)).toBeLessThanOrEqual(2);
  },
  20 * MINUTES,
);

test.each(RENAMES)(
  '$project: after a rename its own check passes as before, or nothing was changed and the answer says why',
  (renames) => {
    for (const {rename, answer, changed, passes} of tryRenames(renames, downloads, base)) {
      expect(passes, rename).toBe(true);
      expect(answer, rename).toContain(changed ? 'Renamed `' : 'Nothing was changed');
    }
  },
  20 * MINUTES,
);
