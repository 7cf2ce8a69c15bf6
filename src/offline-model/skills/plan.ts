/**
 * Handles "plan X": names the places of the project that are most like X (options, files of its kind, symbols of its
 * name), or says that there are none.
 */
import {isCode, isTest} from '../../core/util/file-kinds.ts';
import {getFolder, getPathRank, searchText} from '../places.ts';
import {bullets, cannot, citeHit, clip, count, getReason, notDone, paragraphs} from '../report.ts';
import {type Hit, parseHits, parsePaths} from '../results.ts';
import {ask, askOne, type Job, type Route, type Work} from '../skill.ts';
import {type FoundReference, parseDefinitions, parseImporters, parseReferences} from '../symbols.ts';
import {findIdentifiers, findKeywords, isComment} from '../words.ts';
import {delegate} from './delegate.ts';
import {readOwnManifests} from './project/list-manifests.ts';
import {findNamed} from './search-text.ts';

const PLAN =
  /^(?:(?:make|write|draft|create|give me|prepare|propose|sketch)\s+(?:me\s+)?(?:a|an|the)\s+(?:\w+\s+)?(?:plan|design)\s*(?:for|to|of|on how to)?|plan(?:\s+(?:out|how to|for|to|the))?|design|how (?:would|should|could) (?:you|i|we) (?:implement|add|build|change|support|fix|refactor)|(?:what|which) (?:files|places) (?:would|need|must|should)\b[^?]*?(?:to|for)|planifie[rz]?|conçois|plane|entwirf|спланируй|составь план|план|计划|规划|设计)(?![\w-])[\s:：]*/iu;

const LAST_COMMIT =
  /\b(?:last|latest|newest|recent)\s+commit\b|\bHEAD\b|dernier commit|letzte[nr]? commit|последн\p{L}+ коммит|最.*提交/iu;
const EFFECT = /^(?:what|show|who|when)\b|\b(?:br[eo]ak|affect|risk|impact|change)|cass|kaputt|слома|影响|破坏/iu;

/** Says what the last commit changed, and which files and tests depend on that. */
function* examineCommit(job: Job): Work<string> {
  const command = "git show --relative --name-only --diff-filter=d --format='%h %s (%an, %as)' HEAD";
  const result = yield* askOne(job.toolbox.bash(command, 'Show the last commit'));
  if (result.outcome !== 'ok') return notDone(`git did not show the last commit: ${getReason(result)}.`);
  const [title = '', ...lines] = result.text.split('\n').filter((line) => line.trim() !== '');
  const paths = lines.filter((path) => isCode(path) && !isTest(path)).slice(0, 8);
  const importers = yield* ask(paths.map((path) => job.toolbox.symbols('importers', {path})));
  const found = paths.map((path, index) => {
    const users = [...new Set(parseImporters(importers[index]).found.map((one) => one.path))];
    const tests = users.filter(isTest);
    const list = (some: readonly string[]) => (some.length > 0 ? some.slice(0, 5).join(', ') : 'none by an import');
    return `${path}: used by ${list(users.filter((one) => !isTest(one)))}; tests: ${list(tests)}`;
  });
  return paragraphs(
    `The last commit is ${title}. It changed ${count(lines.length, 'file')}:\n${bullets(lines, 15)}`,
    found.length > 0 && `What imports the changed code, and so could break:\n${bullets(found)}`,
    'This follows imports; I do not understand the change.',
  );
}

export const plan: Route = (job) => {
  if (LAST_COMMIT.test(job.text) && EFFECT.test(job.text)) return examineCommit(job);
  const asked = PLAN.exec(job.text);
  if (!asked && job.role !== 'plan') return undefined;
  const goal = asked ? job.text.slice(asked[0].length).trim() : job.text;
  if (goal === '') return undefined;
  return job.main && job.toolbox.agents.includes('plan')
    ? delegate(job, [{agent: 'plan', prompt: `Plan: ${goal}`}])
    : writePlan(goal, job);
};

/** The basis of a plan: the code that is most like the goal, the work to do there, and the uses of that code. */
interface Model {
  readonly like: readonly string[];
  readonly steps: readonly string[];
  readonly name: string;
  readonly uses: readonly (Hit & {readonly inside?: string | undefined})[];
}

function* writePlan(goal: string, job: Job): Work<string> {
  if (!job.toolbox.has('symbols')) return cannot('I have no `symbols` tool here, so I cannot plan from the code.');
  const isOption = OPTION.test(goal);
  const first = isOption ? yield* planOption(job) : yield* planNew(goal, job);
  // A goal with a written option, such as `--json`, is about an option only.
  const found = first ?? (/(?:^|\s|`)--[a-z]/.test(goal) ? undefined : yield* planSymbol(goal, job));
  if (!found) {
    const what = isOption
      ? 'no code here parses options, so I do not know where a new one belongs'
      : 'nothing here is named like it, so I would only guess';
    return cannot(
      `${what}. I plan from what is most like it: name a file, a function, or the kind of thing ("plan a --json option", "plan a new command").`,
    );
  }
  const {like, name, uses} = found;
  const tests = uses.filter((one) => isTest(one.path));
  const users = uses.filter((one) => !isTest(one.path));
  const steps = [
    ...found.steps,
    users.length > 0 ? `Follow up the uses of ${name}: ${listPlaces(users)}.` : `I found no use of ${name}.`,
    tests.length > 0 ? `Extend the tests: ${listPlaces(tests)}.` : `Add a test: I found none of ${name}.`,
    yield* findCheck(job),
  ];
  return paragraphs(
    `Plan for: ${clip(goal, 160)}\n\nMade by rules from names and references; I do not understand the code, so judge each step.`,
    `**Most like it**\n${bullets(like)}`,
    `**Steps**\n${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}`,
  );
}

function listPlaces(places: Model['uses']): string {
  const shown = places
    .slice(0, 3)
    .map(({path, line, inside}) => `${path}:${line}${inside ? ` (\`${inside}\`)` : ''}`)
    .join(', ');
  return places.length > 3 ? `${shown} and ${places.length - 3} more` : shown;
}

function* findCheck(job: Job): Work<string> {
  const found = (yield* readOwnManifests(job)).facts.find((one) => one.test);
  return found
    ? `Run \`${found.test!.name}\` (${found.path}:${found.test!.line}).`
    : 'Run the checks of the project; I found no command for them.';
}

/** Finds where the names are used, imports left out. */
function* findUses(names: readonly string[], job: Job): Work<readonly FoundReference[]> {
  const results = yield* ask(names.map((name) => job.toolbox.symbols('references', {name})));
  return results.flatMap((one) => parseReferences(one).found).filter((one) => one.kind !== 'import');
}

const OPTION =
  /(?:^|\s|`)--?[a-z][\w-]*|\b(?:options?|flags?|switch|command[- ]line argument|cli argument|schalter)\b|опци|флаг|选项|参数/iu;
/** Matches a line that defines an option in the ways of common parsers. The last way is a table of strings. */
const OPTION_PATTERN =
  'add_argument\\(|add_option\\(|\\.option\\(|addOption\\(|click\\.option|flag\\.(String|Bool|Int|Duration|Var)|Arg::(new|with_name)\\(|#\\[(arg|clap)\\b|struct option\\b|getopt(_long)?\\(|OptionParser|\\.on\\(? ?[\'"]-|[\'"`]--[a-z][a-z0-9-]+';

/** Plans an option: it is added where the others are defined. Other files may have options of programs that they call. */
function* planOption(job: Job): Work<Model | undefined> {
  const found = yield* searchText({pattern: OPTION_PATTERN, limit: 400}, job);
  const hits = found.hits.filter((hit) => getPathRank(hit.path) === 0 && !isComment(hit.text));
  const parses = (path: string) => Number(/(?:^|[/._-])(?:cli|flags?|options?|opts|arg\w*|main)\b/i.test(path));
  const byFile = [...Map.groupBy(hits, (hit) => hit.path)].toSorted(
    ([p, a], [q, b]) => parses(q) - parses(p) || b.length - a.length,
  );
  const [[file, lines] = ['', []], ...others] = byFile;
  // A single line may call another program with its options.
  if (lines.length < 2) return undefined;
  const also = others.slice(0, 3).map(([path, ones]) => `${path}:${ones[0]!.line}`);
  return {
    like: lines.slice(0, 4).map(citeHit),
    steps: [
      `Add the option at ${file}:${lines[0]!.line}, beside its neighbours: ${file} has ${count(lines.length, 'line')} that define or name options.`,
      ...(also.length > 0 ? [`See whether it also belongs in ${also.join(', ')}.`] : []),
    ],
    name: file,
    uses: parseImporters(yield* askOne(job.toolbox.symbols('importers', {path: file}))).found,
  };
}

const NEW = /\b(?:new|another|further|additional|nouvel\w*|neue[rns]?|weitere[rns]?)\b|нов(?:ый|ая|ую|ое)|新/iu;

/**
 * Plans a new thing of an existing kind: by the files of a folder that is named for the kind, or else by the
 * definitions whose names end with it, such as `CsvExporter` and `JsonExporter`. A name that only resembles the topic
 * does not count.
 */
function* planNew(goal: string, job: Job): Work<Model | undefined> {
  if (!NEW.test(goal) && !/^(?:add|adding|a|an)\b/i.test(goal)) return undefined;
  const nouns = findKeywords(goal)
    .map((word) => word.toLowerCase().replace(/s$/, ''))
    .filter((word) => /^[a-z][\w-]+$/.test(word))
    .slice(0, 4);
  if (nouns.length === 0) return undefined;
  const ending = `\\w+(?:${nouns.join('|')})\\b`;
  const [inFolders, defined] = yield* ask([
    job.toolbox.files(`**/{${nouns.flatMap((noun) => [noun, `${noun}s`]).join(',')}}/*.*`, {limit: 400}),
    job.toolbox.search({
      pattern: `\\b(class|struct|interface|trait|record|object|def|function|func|fn)\\s+${ending}`,
      ignoreCase: true,
      limit: 60,
    }),
  ]);
  const isOwn = (path: string) => getPathRank(path) === 0 && !/\/(?:__init__|index|mod)\.\w+$/.test(path);
  const groups = Map.groupBy(parsePaths(inFolders!).paths.filter(isOwn), getFolder);
  const [folder, siblings = []] = [...groups].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  if (folder !== undefined && siblings.length > 1) return yield* planSibling(folder, siblings.toSorted(), job);
  const like = parseHits(defined!).hits.filter((hit) => isOwn(hit.path));
  const names = like.slice(0, 2).flatMap((hit) => new RegExp(ending, 'i').exec(hit.text)?.[0] ?? []);
  if (names.length < 2) return undefined;
  return {
    like: like.slice(0, 5).map(citeHit),
    steps: [`Read ${names.map((name) => `\`${name}\``).join(' and ')}: a new one has the same form.`],
    name: 'these',
    uses: yield* findUses(names, job),
  };
}

/** A new file has the form of its siblings, and is registered where they are imported. */
function* planSibling(folder: string, siblings: readonly string[], job: Job): Work<Model> {
  const path = folder.replace(/(.)\/$/, '$1');
  const [importers, defined] = yield* ask([
    job.toolbox.symbols('importers', {path}),
    job.toolbox.symbols('definitions', {path}),
  ]);
  const {found} = parseDefinitions(defined);
  const like = siblings.slice(0, 5).map((sibling) => {
    const first = found.find((one) => one.path === sibling);
    return first ? citeHit(first) : sibling;
  });
  return {
    like: siblings.length > 5 ? [...like, `… ${siblings.length - 5} more in ${folder}`] : like,
    steps: [`Read ${siblings.slice(0, 2).join(' and ')}: a new one in ${folder} has the same form.`],
    name: 'its siblings',
    uses: parseImporters(importers).found,
  };
}

/** Plans a change of existing code: its definition, its users, its tests. */
function* planSymbol(goal: string, job: Job): Work<Model | undefined> {
  const words = [...new Set([...findIdentifiers(goal), ...findKeywords(goal).slice(0, 4)])];
  if (words.length === 0) return undefined;
  const named = yield* ask(words.map((name) => job.toolbox.symbols('definitions', {name})));
  const exact = named.flatMap((one) => parseDefinitions(one).found);
  const found = exact.length > 0 ? exact : yield* findNamed(words, job);
  if (found.length === 0) return undefined;
  const main = found.slice(0, 3);
  const uses = yield* findUses(
    main.map((one) => one.name.replace(/^.*\./, '')),
    job,
  );
  return {
    like: main.map(citeHit),
    steps: [
      `Read ${main.map((one) => `${one.path}:${one.line}`).join(', ')}: they are named like it.`,
      `Change \`${main[0]!.name}\` first.`,
    ],
    name: 'it',
    uses,
  };
}
