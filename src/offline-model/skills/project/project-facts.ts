/**
 * Answers questions about the project as a whole (version, licence, dependencies, how it is built and tested, changes) with
 * the lines of the files that say it. Each topic names the files and the lines; where they say nothing, the text of all
 * files is searched.
 */

import {getExtension, getExtensions, isCode, isGenerated, isTest, isTestPath} from '../../../core/util/file-kinds.ts';
import {MANIFEST_NAMES} from '../../../core/util/manifests.ts';
import {findSpeech, phrase} from '../../language.ts';
import {compareDepth, searchText} from '../../places.ts';
import {bullets, citeHit, count, formatLines, getReason, notDone, paragraphs} from '../../report.ts';
import {type Hit, hasMoreLines, parseCounts, parseHits, parseLines, parsePaths} from '../../results.ts';
import {ask, askOne, type Job, type Route, type Work} from '../../skill.ts';
import {escapeRegExp, findPaths, findUnaccounted} from '../../words.ts';
import {LIST_AUTHORS, showHistory} from '../history.ts';
import {measureFiles} from '../list.ts';
import {answerByText} from '../search-text.ts';
import {formatEntries, formatLanguages} from './explore.ts';
import {citeFacts, listFromManifests, readOwnManifests} from './list-manifests.ts';
import {type ProjectView, viewProject} from './project-view.ts';

const MANIFESTS = `{${[
  ...MANIFEST_NAMES,
  'setup.{py,cfg},tox.ini,noxfile.py,requirements*.txt,pom.xml,build.gradle*,settings.gradle*,gradle.properties,*wrapper.properties,*.gemspec,Rakefile,*.rockspec,*.fsproj,*.nuspec,Directory.Build.props,configure.ac,meson.build,Makefile*,makefile,justfile,mix.exs,Package.swift,dune-project,*.opam,*.cabal,build.sbt,pubspec.yaml,.tool-versions,.nvmrc,.ruby-version',
].join(',')}}`;
const CI =
  '{.travis.yml,appveyor.yml,.appveyor.yml,.gitlab-ci.yml,Jenkinsfile,azure-pipelines.yml,.cirrus.yml,bitbucket-pipelines.yml,.circleci/**,.github/workflows/**,.ci/**,.build.yml}';
const RELEASES = '{CHANGE*,Change*,change*,NEWS*,HISTORY*,History*,RELEASE*}';
const AUTHORS = '{AUTHORS*,MAINTAINERS*,CODEOWNERS,CREDITS*}';
const LICENCES = '{[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*,COPYING*,COPYRIGHT*,NOTICE*}';
const PROSE = '{README*,readme*,CONTRIBUTING*,contributing*,DEVELOP*,HACKING*,INSTALL*}';

interface Topic {
  /**
   * Patterns that all have to match the question. A question with words that neither they nor `COMMON` match is not
   * answered here.
   */
  readonly asked: readonly RegExp[];
  /** Globs of files that the answer only names, without their lines. */
  readonly names?: string;
  /** Globs of files whose lines are searched, the most telling first. */
  readonly files?: readonly string[];
  readonly lines?: string;
  /** The command of git that answers where no file does. */
  readonly git?: string;
  /** Finds the answer in the facts of the manifests. */
  readonly command?: 'build' | 'start' | 'test' | 'dependencies';
  /** Answers by special code for this topic. */
  readonly answer?: (job: Job) => Work<string>;
  /** Answers a question that names one further thing. @param left the words that no pattern matches */
  readonly narrow?: (job: Job, left: readonly string[]) => Work<string> | undefined;
}

const TEST_TOOLS =
  'pytest|tox|nosetests|unittest|mocha|jest|vitest|\\bava\\b|jasmine|karma|rspec|minitest|busted|phpunit|junit|testng|nunit|xunit|gtest|googletest|catch2|ctest|(cargo|go|npm|npm run|yarn|pnpm|make|mvn|gradlew?|rake|mix) (test|check|verify|spec)\\b|"test[\\w:-]*"\\s*:|^test[\\w-]*:|test_suite';
const LINTERS =
  '\\b(eslint|tslint|xo|biome|prettier|flake8|ruff|pylint|black|mypy|golangci-lint|gofmt|clippy|rustfmt|rubocop|standardrb|phpstan|psalm|php-cs-fixer|luacheck|ktlint|detekt|clang-tidy|clang-format|checkstyle|spotbugs|stylecop)\\b';
const DEPENDENCY =
  'install_requires|^\\s*requires\\s*=|add_(runtime_|development_)?dependency|<artifactId>|^\\s*(implementation|api|compile|compileOnly|testCompile|classpath)\\b|^\\s*"?[\\w./@-]+ (>=|<=|~>|==|=) ?[\\w.]+|PackageReference|<Reference Include|find_package|AC_CHECK_LIB|deps\\s*=|dependenc(y|ies)';
const BUILD =
  '"(build|prepare|compile)[\\w:-]*"\\s*:|^(all|build|install)[\\w-]*:|<packaging>|apply plugin|plugins \\{|maven-compiler-plugin|luarocks|(cargo|go|dune|stack|mvn|gradlew?|cmake|meson|make|ninja|bundle|gem|pip3?|npm|yarn|composer|luarocks|autoreconf|\\./configure)( [\\w.&|/-]+)* ?(build|install|package|\\.\\.|&& ?make|-i)\\b|autoreconf';

/** Words that any question about a project may have. */
const COMMON =
  /\b(?:under|distribut|publish|terms|hold|behind|original|configur|set ?up|runs?\b|services?\b|jobs?\b|workflow|system|defin|support|kept|guid|rules?\b|start|patch|should|report|security|disclos|policy|send|version|read|matter|set\b|honou?r|underst|respect|affect|check|execut|launch|unit|whole|aus\b|tool|enforce|runtime|direct|production|external|third[- ]party|dev|depend|requir|list|command|sources?\b|scratch|locally|steps|instructions|make|server|programming|coding|written|mostly|main|écrit|geschrieben|current|latest|min|work|target|rang|number|lines?\b|size|image|v?\d[\w.-]*)|написан|编程/;

const ASKS_HOW = /\bhow\b(?! many)|\bwie\b|\bcomment\b|как|怎么|如何|\bcommand\b|\bsteps\b|\binstructions\b/u;

const TOPICS: readonly Topic[] = [
  {
    asked: [
      /\b(?:biggest|largest|longest)\b|größte|\bplus (?:gros|grand)s?\b|最大|самы\S+ больш\S+/,
      /\bfiles?\b|\bdatei|\bfichier|файл|文件|\b(?:not|without) tests?\b/,
    ],
    narrow: listLargest,
  },
  {
    asked: [
      /\bentry ?-?points?\b|(?<!^how\b.*)\b(?:starts?|begins?)(?: up| running)?[\s?.!]*$|points? d'entrée|einstiegspunkt|точк\S+ вход|入口/,
    ],
    answer: (job) => answerView(job, formatEntries),
  },
  {
    asked: [/\blanguages?\b|\bwritten in\b|\blangages?\b|\b(?:programmier)?sprachen?\b|язык|语言/],
    answer: (job) => answerView(job, formatLanguages),
  },
  {
    asked: [
      /\bv?\d+\.\d+[\d.]*|\b(?:next|latest|last|new)\b.*\brelease\b/,
      /\bnew\b|\bchange[ds]?\b|\bfix(?:e[sd])?\b|\badded\b|\bbring\b|\brelease/,
    ],
    answer: showChanges,
  },
  {
    asked: [/licen[cs]e?|lizenz|лиценз|许可证?/],
    names: LICENCES,
    files: [MANIFESTS, LICENCES, 'README*'],
    lines: 'licen[cs]e|permission is hereby granted',
  },
  {
    asked: [
      /\bauthors?\b|\bcopyright\b|\bwho (?:wrote|made|maintains|created|develops|owns)\b|\bmaintain(?:s|ed|ers?)\b|\bauteurs?\b|\bautor|автор|作者/,
    ],
    names: AUTHORS,
    files: [MANIFESTS, AUTHORS, LICENCES],
    lines: 'author|maintainer|<organization>|<developer>|copyright [©(\\d]|\\w@\\w',
    git: LIST_AUTHORS,
  },
  {
    asked: [/\bci\b|\bcontinuous integration\b|\bpipelines?\b|непрерывн\S* интеграц|持续集成/],
    names: `{${CI.slice(1, -1)}}`,
  },
  {
    asked: [/\bdocker\w*|\bcontainer image\b/],
    names: '{Dockerfile*,docker-compose*,compose.y*ml,Containerfile*,*.dockerfile}',
  },
  {
    asked: [/\bchange ?log|\brelease notes\b|\bhistory of changes\b/],
    names: RELEASES,
  },
  {
    asked: [/\bcontribut\w*|\bmitwirken|贡献/],
    names: '{CONTRIBUTING*,contributing*,.github/CONTRIBUTING*,docs/**/[Cc]ontributing*}',
  },
  {
    asked: [/\bsecurity (?:problem|issue|policy|bug|hole)s?\b|\bvulnerabilit\w+/],
    names: '{SECURITY*,security*,.github/[Ss][Ee][Cc]*}',
  },
  {
    asked: [
      /\benv(?:ironment)?[- ]?var\w*|umgebungsvariable|variables? d'environnement|переменн\S+ окружения|环境变量/,
    ],
    files: ['*'],
    lines:
      'process\\.env\\b|os\\.environ|os\\.getenv|\\bgetenv\\(|env::var|(?-i:\\bENV)(\\[|\\{|\\.fetch)|System\\.getenv|GetEnvironmentVariable|\\$_ENV|LookupEnv|Getenv\\(',
  },
  {
    asked: [
      /\btest(?:s|ed|ing)?\b|\bspecs?\b|тест|测试/,
      /\bhow\b(?! many)|\bframeworks?\b|\blibrary\b|\btools?\b|\brunner\b|\bcommands?\b|\bsuites?\b|\blancer\b|\bexécuter\b|\bführ|\bausführ|запус|运行|跑/,
    ],
    files: [MANIFESTS, CI, PROSE],
    lines: TEST_TOOLS,
    command: 'test',
  },
  {
    asked: [/\blint(?:er|ers|ing)?\b|\bcode style\b|\bformatters?\b|\bstatic analy\w+/],
    files: [MANIFESTS, CI, PROSE],
    lines: LINTERS,
  },
  {
    asked: [
      /\bdependenc(?:y|ies)\b|\bdeps\b|\b(?:third[- ]party |npm |runtime )packages?\b|\bgems\b|\bcrates\b|\blibraries\b|зависимост|dépendances|abhängigkeit|依赖/,
    ],
    files: [MANIFESTS],
    lines: DEPENDENCY,
    command: 'dependencies',
  },
  {
    asked: [
      /\bbuild\b|\bbuilt\b|\bcompiled?\b|\binstall(?:ed|ation)?\b|\bset ?up\b|\bpackaged\b|\bbaue|\binstallier|\bcompiler\b|\bconstruire\b|\binstaller\b|собрать|установить|构建|编译|安装/,
      ASKS_HOW,
    ],
    files: [MANIFESTS, PROSE, CI],
    lines: BUILD,
    command: 'build',
  },
  {
    asked: [/\brun\b|\bstart\b|\blaunch\b|\bexecute\b|\blancer\b|\bdémarrer\b|запустить|运行|启动/, ASKS_HOW],
    files: [PROSE, '*'],
    lines:
      '"start"\\s*:|^\\s*(\\$ )?(npm start|npx|cargo run|go run|python3? -m|java -jar|docker run)\\b|^(func|fn|int|def) main\\(',
    command: 'start',
  },
  {
    asked: [
      /\bcommands?\b|\bexecutables?\b|\bbinar(?:y|ies)\b|\bscripts?\b|\bprograms?\b/,
      /\binstall|\bshipped\b|\bprovide|\bconsole\b/,
    ],
    files: [MANIFESTS],
    lines:
      '"bin"|console_scripts|^\\s*[\'"][\\w-]+ ?= ?[\\w.]+:\\w+|executables|\\[\\[bin\\]\\]|add_executable|bin_PROGRAMS',
  },
  {
    asked: [/\bmodules?\b|\bsub-?projects?\b|\bworkspaces?\b|\bpackages\b/, /\bare there\b|\bexist\b|\bhave\b|\bhas\b/],
    files: ['{settings.gradle*,pom.xml,go.work,Cargo.toml,package.json,pnpm-workspace.yaml,lerna.json}'],
    lines: '^\\s*include\\b|<module>|members|workspaces|^\\s*use\\b|project\\(',
  },
  {
    asked: [
      /\bversions?\b|\bedition\b|верси|版本|\b(?:node|python|php|ruby|java|lua|rust|go|\.net)\b.*\b(?:min|need|require|support|target|work)|\b(?:min|require|support|target)\w*.*\b(?:node|python|php|ruby|java|lua|rust|go|\.net)\b/,
    ],
    narrow: answerVersion,
  },
];

/** Patterns of the lines by which manifests state the version of a language, by the words for the language. */
const RUNTIMES: readonly (readonly [words: RegExp, lines: string])[] = [
  [/^go(?:lang)?$/, '^go \\d'],
  [/^rust$/, 'rust[-_]version\\b.*\\d|^msrv'],
  [
    /^(?:java|jdk|jvm)$/,
    '<(source|target|release|java\\.version|maven\\.compiler\\.\\w+)>|(source|target)Compatibility|jvmTarget',
  ],
  [/^(?:\.?net|frameworks?)$/, 'TargetFramework(Version|s)?>'],
  [/^c\+\+$/, 'CXX_STANDARD \\d|std=(c|gnu)\\+\\+'],
  [/^node(?:\.?js)?$/, '"node"\\s*:|node[-_]version'],
  [/^php$/, '"php"\\s*:|php[-_]version'],
  [/^python$/, 'requires-python.*\\d|(^|[^a-z-])python([^a-z-]|$).*\\d'],
  [/^ruby$/, 'required_ruby_version|^ruby '],
  [/^lua$/, '(^|[^a-z-])lua([^a-z-]|$).*\\d'],
];

export const projectFacts: Route = (job) => {
  const {text, project} = job;
  if (
    text.length > 160 ||
    /[`"“\n]/.test(text) ||
    /^(?:run|plan|review|create|add|rename|replace|explore|set(?! ?up)|bump|change|increase|make)\b|\b(?:outdated|unused|vulnerable)\b/i.test(
      text,
    )
  )
    return undefined;
  const [path] = findPaths(text);
  if (path !== undefined && /^how (?:big|long|large)\b/i.test(text)) return measureFile(path, job);
  const rest = path === undefined ? text : text.replace(path, ' ');
  for (const topic of TOPICS) {
    const {asked, narrow, answer} = topic;
    if (!asked.every(({source}) => new RegExp(source, 'iu').test(text))) continue;
    const left = findUnaccounted(rest, [...asked, COMMON], project);
    if (narrow) return narrow(job, left);
    if (left.length === 0 && path === undefined) return answer?.(job) ?? answerTopic(topic, job);
  }
  return undefined;
};

function* answerView(job: Job, format: (view: ProjectView) => string): Work<string> {
  const view = yield* viewProject(job, undefined);
  return typeof view === 'string' ? view : format(view);
}

function* answerTopic({names, files = [], lines = '', git, command}: Topic, job: Job): Work<string> {
  const known = command === undefined ? [] : (yield* readOwnManifests(job)).facts;
  const told = known.flatMap((manifest) => (command === undefined ? [] : citeFacts(manifest, command, job.text)));
  const [named, ...searched] = yield* ask([
    names === undefined ? undefined : job.toolbox.files(`**/${names}`, {limit: 60}),
    ...files.map((glob) => job.toolbox.search({pattern: lines, ignoreCase: true, glob, limit: 150})),
  ]);
  const paths = parsePaths(named!)
    .paths.filter((path) => !isGenerated(path))
    .toSorted(compareDepth);
  const hits = searched.flatMap((result) => selectHits(parseHits(result).hits, MAX_HITS - 4));
  const hasList = known.some((one) => one.dependencies.length > 0) || (known.length > 0 && hits.length === 0);
  if (command === 'dependencies' && hasList) return yield* listFromManifests(command, job.text, undefined, job);
  if (paths.length + hits.length + told.length === 0)
    return yield* git === undefined ? answerByText(job) : showHistory(git, job);
  return formatRead(job, paths, hits, told);
}

const MAX_HITS = 40;
/** Lines of one file in an answer. */
const MAX_PER_FILE = 30;

function selectHits(hits: readonly Hit[], limit: number): readonly Hit[] {
  const own = hits.filter((hit) => !isGenerated(hit.path) && hit.text.length < 300);
  const files = [...Map.groupBy(own, (hit) => hit.path)].toSorted(
    ([a], [b]) => getTold(a) - getTold(b) || compareDepth(a, b),
  );
  return files.flatMap(([, found]) => found.slice(0, MAX_PER_FILE)).slice(0, limit);
}

/** Lines of tests and of lists of changes come last. */
const getTold = (path: string) =>
  isTestPath(path) ? 1 : /(^|\/)(change|history|news|release)[^/]*$/i.test(path) ? 2 : 0;

function formatRead(job: Job, paths: readonly string[], hits: readonly Hit[], told: readonly string[] = []): string {
  const places = [...new Set([...told, ...hits.map(citeHit)])];
  return paragraphs(
    paths.length > 0 && bullets(paths, 12),
    hits.length > 0 && phrase('read', findSpeech(job.text)),
    places.length > 0 && bullets(places, MAX_HITS * 2),
  );
}

/** Lines that say which version the project itself has. */
const OWN_VERSION =
  '^\\s*["\']?version["\']?\\s*[:=]|<version>|project\\s*\\(.*VERSION|VERSION *= *["\'\\d]|AssemblyFileVersion\\(|^v?\\d+\\.\\d+(\\.\\d+)?\\s*$|AC_INIT';
const VERSION_CONSTANT =
  '^\\s*(#\\s*define|__|const\\w*|static|public|export|let|var|val|final|[A-Z_]+ =).*version(_\\w+)?\\b\\W{1,6}\\d';
const VERSION_FILES = `{${MANIFESTS.slice(1, -1)},version.*,VERSION*,_version.py,__init__.py,AssemblyInfo.cs}`;

/** Names the version of the project itself, or of the one thing that the question names. */
function answerVersion(job: Job, left: readonly string[]): Work<string> | undefined {
  const findRuntime = (word: string) => RUNTIMES.find(([form]) => form.test(word))?.[1];
  const tools = left.filter((word) => findRuntime(word) === undefined);
  const runtimes = job.text
    .toLowerCase()
    .split(/[\s?!,]+/)
    .flatMap((word) => findRuntime(word) ?? []);
  if (tools.length > 1) return undefined;
  const needed = [
    ...runtimes,
    ...tools.map((tool) => `(^|[^a-z_-])${escapeRegExp(tool)}([-_.]?version)?(\\W|\\W.*[^\\w.])\\d`),
  ].join('|');
  return showVersions(/\bedition\b/i.test(job.text) ? '^edition' : needed, job);
}

/** @param needed pattern of what the question names; empty when it asks about the project itself */
function* showVersions(needed: string, job: Job): Work<string> {
  const isOwn = needed === '';
  const search = (pattern: string, glob: string) => job.toolbox.search({pattern, ignoreCase: true, glob, limit: 150});
  const [manifests, releases] = yield* ask([
    isOwn ? search(OWN_VERSION, VERSION_FILES) : search(needed, `**/{${MANIFESTS.slice(1, -1)},${CI.slice(1, -1)}}`),
    isOwn ? search('^\\W*(version |release |v)?\\[?v?\\d+\\.\\d+', RELEASES) : undefined,
  ]);
  // The first line of a manifest is the project's own version. The others are versions of its dependencies.
  const own = parseHits(manifests!).hits.filter(
    (hit, index, all) => !isOwn || all.findIndex((one) => one.path === hit.path) === index,
  );
  // When no manifest states the version, a constant of the code may.
  const inCode =
    isOwn && !own.some((hit) => /(?<!-)version\W{1,6}\d/i.test(hit.text))
      ? (yield* searchText({pattern: VERSION_CONSTANT, ignoreCase: true, limit: 100}, job)).hits.filter(
          (hit) => isCode(hit.path) && !isTest(hit.path),
        )
      : [];
  const hits = [...selectHits(own, 12), ...selectHits(inCode, 6), ...selectHits(parseHits(releases!).hits, 2)];
  return hits.length > 0 ? formatRead(job, [], hits) : yield* answerByText(job);
}

function* measureFile(file: string, job: Job): Work<string> {
  const result = yield* askOne(job.toolbox.search({pattern: '^', path: file, mode: 'count'}));
  const [lines] = parseCounts(result).values();
  return lines === undefined ? notDone(`${getReason(result)}.`) : `${file} has ${count(lines, 'line')}.`;
}

/** Lists the largest files by lines. @param left a language, which narrows them, as a folder in the request does */
function listLargest(job: Job, left: readonly string[]): Work<string> | undefined {
  const [, folder] =
    /\b(?:in|inside|under|within|of)\s+(?:the\s+)?([\w@.-]+?)(?:\s+(?:folder|directory))?[\s?.!]*$/i.exec(job.text) ??
    [];
  const others = left.filter((word) => getExtensions(word).length === 0);
  if (others.some((word) => word !== folder?.toLowerCase())) return undefined;
  return showLargest(job, left.flatMap(getExtensions), others.length > 0 ? folder : undefined);
}

/** @param extensions those of a language; empty for all */
function* showLargest(job: Job, extensions: readonly string[], folder: string | undefined): Work<string> {
  const path = folder ?? findPaths(job.text)[0]?.replace(/(.)\/$/, '$1');
  const {sizes: all, isWhole} = yield* measureFiles(path, job);
  const sizes = all.filter(
    ({file, isCode}) =>
      isCode &&
      (extensions.length === 0 || extensions.includes(getExtension(file))) &&
      !isGenerated(file) &&
      !(/\bnot\b.*\btests?\b/i.test(job.text) && isTest(file)),
  );
  if (sizes.length === 0) return yield* answerByText(job);
  const lines = sizes.toSorted((a, b) => b.lines - a.lines).map((one) => `${one.file} — ${count(one.lines, 'line')}`);
  const head = isWhole ? 'The largest of' : 'Not all were counted. The largest of';
  return `${head} ${count(sizes.length, 'code file')}${path === undefined ? '' : ` in ${path}`}:\n${bullets(lines.slice(0, 10))}`;
}

/** Shows the part of the list of changes about the release in the question, or about the newest release. */
function* showChanges(job: Job): Work<string> {
  const release = /\bv?(\d+\.\d+(?:\.\d+)*)\b/.exec(job.text)?.[1];
  const form = (version: string) => `^\\W*(version |release |\\w+ )?\\[?v?(${version})(\\W|$)`;
  const pattern = form('\\d+\\.\\d+[\\d.]*|unreleased|head\\b|next\\b');
  const {hits} = yield* searchText({pattern, ignoreCase: true, glob: RELEASES, limit: 400}, job);
  const heads = hits.toSorted((a, b) => compareDepth(a.path, b.path) || a.line - b.line);
  const first = heads.find(
    ({text}) => release === undefined || new RegExp(form(escapeRegExp(release)), 'i').test(text),
  );
  if (first === undefined) return yield* answerByText(job);
  const {path, line, text} = first;
  if (/\bwhen\b/i.test(job.text) && !/\d[-./]\d\d?[-./]\d\d|\b(?:19|20)\d\d\b/.test(text))
    return notDone('the list of changes has this release without a date.', `- ${citeHit(first)}`);
  // The next heading of this form ends the release.
  const [mark] = /^\W*/.exec(text)!;
  const next = heads.find((one) => one.path === path && one.line > line && /^\W*/.exec(one.text)![0] === mark);
  const size = Math.min(30, (next?.line ?? Infinity) - line);
  const result = yield* askOne(job.toolbox.read(path, line, size));
  return paragraphs(
    `${path}:${line}:`,
    formatLines(parseLines(result) ?? [], ''),
    size === 30 && hasMoreLines(result) && `… ask for "lines ${line + 30}-${line + 90} of ${path}".`,
  );
}
