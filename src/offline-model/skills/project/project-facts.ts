/**
 * Answers questions about the project as a whole (version, licence, dependencies, how it is built and tested, changes) with
 * the lines of the files that say it. Each topic names the files and the lines; where they say nothing, the text of all
 * files is searched.
 */

import {isCode, isGenerated, isTest} from '../../../core/util/file-kinds.ts';
import {findSpeech, phrase} from '../../language.ts';
import {bullets, citeHit, code, count, fenced, getReason, notDone, numbered, paragraphs} from '../../report.ts';
import {type Hit, parseCounts, parseHits, parseLines, parsePaths} from '../../results.ts';
import {ask, askOne, type Job, type Route, type Work} from '../../skill.ts';
import {escapeRegExp, findIdentifiers, findPaths} from '../../words.ts';
import {answerByText} from '../search-text.ts';
import {formatEntries, formatLanguages} from './explore.ts';
import {readOwnManifests} from './list-manifests.ts';
import {type ProjectView, viewProject} from './project-view.ts';

const MANIFESTS =
  '{package.json,composer.json,pyproject.toml,setup.py,setup.cfg,tox.ini,noxfile.py,requirements*.txt,Cargo.toml,go.mod,pom.xml,build.gradle*,settings.gradle*,gradle.properties,*.gemspec,Gemfile,Rakefile,*.rockspec,*.csproj,*.fsproj,*.nuspec,Directory.Build.props,CMakeLists.txt,configure.ac,meson.build,Makefile*,makefile,justfile,mix.exs,Package.swift,dune-project,*.opam,*.cabal,build.sbt,pubspec.yaml,.tool-versions,.nvmrc,.ruby-version}';
const CI =
  '{.travis.yml,appveyor.yml,.appveyor.yml,.gitlab-ci.yml,Jenkinsfile,azure-pipelines.yml,.cirrus.yml,bitbucket-pipelines.yml,.circleci/**,.github/workflows/**,.ci/**,.build.yml}';
const PROSE = '{README*,readme*,CONTRIBUTING*,contributing*,DEVELOP*,HACKING*,INSTALL*}';

interface Topic {
  /** Matches the question. */
  readonly asked: RegExp;
  /** Globs of files that are named, by their names alone. */
  readonly names?: string;
  /** Globs of files whose lines are searched, the most telling first. */
  readonly files?: readonly string[];
  readonly lines?: string;
  /** What the manifests are known to say of it. */
  readonly command?: 'build' | 'start' | 'test' | 'dependencies';
}

const TEST_TOOLS =
  'pytest|tox|nosetests|unittest|mocha|jest|vitest|\\bava\\b|jasmine|karma|rspec|minitest|busted|phpunit|junit|testng|nunit|xunit|gtest|googletest|catch2|cargo test|go test|ctest|make (check|test)|(npm|yarn|pnpm)( run)? test|mvn (test|verify)|gradlew? test|rake (test|spec)|mix test|"test[\\w:-]*"\\s*:|^test[\\w-]*:|test_suite';
const LINTERS =
  '\\b(eslint|tslint|xo|biome|prettier|flake8|ruff|pylint|black|mypy|golangci-lint|gofmt|clippy|rustfmt|rubocop|standardrb|phpstan|psalm|php-cs-fixer|luacheck|ktlint|detekt|clang-tidy|clang-format|checkstyle|spotbugs|stylecop)\\b';
const DEPENDENCY =
  'install_requires|^\\s*requires\\s*=|add_(runtime_|development_)?dependency|<artifactId>|^\\s*(implementation|api|compile|compileOnly|testCompile|classpath)\\b|^\\s*"?[\\w./@-]+ (>=|<=|~>|==|=) ?[\\w.]+|PackageReference|<Reference Include|^\\s*(require\\s+)?[\\w.-]+\\.\\w+/\\S+ v\\d|find_package|AC_CHECK_LIB|deps\\s*=|dependenc(y|ies)|^\\[dependencies\\.|"\\^?~?[><=]*\\d+[\\w.*-]*(\\.[\\w.*-]+)+"';
const BUILD =
  '"(build|prepare|compile)[\\w:-]*"\\s*:|^(all|build|install)[\\w-]*:|<packaging>|apply plugin|plugins \\{|maven-compiler-plugin|luarocks|(cargo|go|dune|stack|mvn|gradlew?|cmake|meson|make|ninja|bundle|gem|pip3?|npm|yarn|composer|luarocks|autoreconf|\\./configure)( [\\w.&|/-]+)* ?(build|install|package|\\.\\.|&& ?make|-i)\\b|rimraf dist|type = "builtin"|buildscript|autoreconf';

const TOPICS: readonly Topic[] = [
  {
    asked: /licen[cs]|lizenz|лиценз|许可/iu,
    names: '{LICEN[CS]E*,licen[cs]e*,COPYING*,COPYRIGHT*,NOTICE*}',
    files: [MANIFESTS, '{LICEN[CS]E*,licen[cs]e*,COPYING*,COPYRIGHT*}', 'README*'],
    lines: 'licen[cs]e',
  },
  {
    asked:
      /\bauthors?\b|\bwho (?:wrote|made|maintains|created|develops|owns)\b|maintainers?|\bauteurs?\b|\bautor|автор|作者/iu,
    names: '{AUTHORS*,MAINTAINERS*,CODEOWNERS,CREDITS*}',
    files: [MANIFESTS, '{AUTHORS*,MAINTAINERS*,CODEOWNERS,CREDITS*}', '{LICEN[CS]E*,license*,COPYING*}'],
    lines: 'author|maintainer|<organization>|<developer>|copyright [©(\\d]|\\w@\\w',
  },
  {
    asked: /\b(?:ci|continuous integration|pipelines?)\b|непрерывн|持续集成/iu,
    names: `{${CI.slice(1, -1)}}`,
  },
  {
    asked: /\b(?:docker\w*|container image)\b/i,
    names: '{Dockerfile*,docker-compose*,compose.y*ml,Containerfile*,*.dockerfile}',
  },
  {
    asked: /\b(?:change ?log|release notes|history of changes)\b/i,
    names: '{CHANGE*,Change*,change*,NEWS*,HISTORY*,History*,RELEASE*}',
  },
  {
    asked: /\bcontribut\w*|mitwirken|contribuer|贡献/iu,
    names: '{CONTRIBUTING*,contributing*,.github/CONTRIBUTING*,docs/**/[Cc]ontributing*}',
  },
  {
    asked: /\b(?:security (?:problem|issue|policy|bug)|vulnerabilit\w+)\b/i,
    names: '{SECURITY*,security*,.github/[Ss][Ee][Cc]*}',
  },
  {
    asked: /\b(?:upgrad\w+|migrat\w+) (?:from|to|guide|between)/i,
    names: '{UPGRAD*,upgrad*,MIGRAT*,migrat*,docs/**/*[mM]igrat*,docs/**/*[uU]pgrad*}',
  },
  {
    asked:
      /\benv(?:ironment)?(?:[- ]?var\w*| variables?)\b|umgebungsvariable|variables? d'environnement|переменн\p{L}+ окружения|环境变量/iu,
    files: ['*'],
    lines:
      'process\\.env\\b|os\\.environ|os\\.getenv|\\bgetenv\\(|env::var|\\bENV(\\[|\\.fetch)|System\\.getenv|GetEnvironmentVariable|\\$_ENV|LookupEnv|Getenv\\(',
  },
  {
    asked:
      /^how\b.*\b(?:run|execute|start|launch)\b.*\b(?:tests?|specs?)\b|^how (?:do|can|to|is|are)\b.*(?<![.\w])test(?:ed)?[\s?.!]*$|\btest(?:ing)? (?:framework|library|tool|runner|command|suite)s?\b|tests? (?:lancer|ausführen)|(?:lancer|exécuter) les tests|tests? aus(?:führen)?|запустить тесты|(?:运行|跑)测试/iu,
    files: [MANIFESTS, CI, PROSE],
    lines: TEST_TOOLS,
    command: 'test',
  },
  {
    asked: /\b(?:lint(?:er|ers|ing)?|code style|code formatter|static analy\w+|phpstan)\b/i,
    files: [MANIFESTS, CI, PROSE],
    lines: LINTERS,
  },
  {
    asked:
      /\b(?:dependenc(?:y|ies)|deps|(?:third[- ]party |npm |runtime )packages?|gems|crates|libraries)\b(?!.*\b(?:uses?|calls?)\b)|зависимост|dépendances|abhängigkeit|依赖/iu,
    files: [MANIFESTS],
    lines: DEPENDENCY,
    command: 'dependencies',
  },
  {
    asked:
      /^how\b.*\b(?:build|built|compiled?|install(?:ed)?|set ?up|packaged?)\b|^how (?:do|can|to|is|should)\b.*\b(?:build|install|compile)\b|\b(?:build|install) command\b|^wie\b.*\b(?:baue|installiere)|^comment (?:compiler|construire|installer)|^как (?:собрать|установить)|(?:怎么|如何)(?:构建|编译|安装)/iu,
    files: [MANIFESTS, PROSE, CI],
    lines: BUILD,
    command: 'build',
  },
  {
    asked:
      /^how\b.*\b(?:run|start|launch|execute)\b(?: (?:this|it|the (?:app\w*|program|project|server)))?[\s?.!]*$|^(?:what is )?the (?:start|run) command\b|^comment (?:lancer|démarrer)|^как запустить|(?:怎么|如何)(?:运行|启动)/iu,
    files: [PROSE, '*'],
    lines:
      '"start"\\s*:|^\\s*(\\$ )?(npm start|npx|cargo run|go run|python3? -m|java -jar|docker run)\\b|^(func|fn|int|def) main\\(',
    command: 'start',
  },
  {
    asked:
      /\b(?:commands?|executables?|binar(?:y|ies)|scripts?|programs?)\b.*\b(?:installed?|shipped|provided?)\b|console scripts?/i,
    files: [MANIFESTS],
    lines:
      '"bin"|console_scripts|^\\s*[\'"][\\w-]+ ?= ?[\\w.]+:\\w+|executables|\\[\\[bin\\]\\]|add_executable|bin_PROGRAMS',
  },
  {
    asked: /\b(?:modules?|sub-?projects?|workspaces?|packages)\b.*\b(?:are there|exist|does it have|has it)\b/i,
    files: ['{settings.gradle*,pom.xml,go.work,Cargo.toml,package.json,pnpm-workspace.yaml,lerna.json}'],
    lines: '^\\s*include\\b|<module>|members|workspaces|^\\s*use\\b|project\\(',
  },
];

/** What a manifest says of the version of a language, by the words in the question. */
const RUNTIMES: readonly (readonly [RegExp, string])[] = [
  [/\bnode(?:\.?js)?\b/i, '"node"\\s*:|node_version|node-version'],
  [
    /\bpython\b/i,
    'python_requires|requires-python|Programming Language :: Python :: \\d|py_version <|envlist|Python \\d',
  ],
  [/\bgo(?:lang)?\b/i, '^go \\d'],
  [/\brust\b/i, '^edition|rust-version'],
  [/\bruby\b/i, 'required_ruby_version|^ruby '],
  [/\bphp\b/i, '"php"\\s*:'],
  [
    /\b(?:java|jdk|jvm)\b/i,
    '<(source|target|release|java\\.version|maven\\.compiler\\.\\w+)>|(source|target)Compatibility|jvmTarget',
  ],
  [/\.net\b|\bframeworks?\b.*\btarget|\btarget\w*\b.*\bframeworks?\b/i, 'TargetFramework(Version|s)?>'],
  [/\blua\b/i, 'lua[\\w ]*[><=~]+ ?\\d|LUA="'],
  [/\bc\+\+/i, 'CXX_STANDARD \\d|std=(c|gnu)\\+\\+'],
];

const ENTRIES =
  /\bentry ?-?points?\b|\b(?:program|app\w*|execution|code|it|project)\s+(?:start|begin)s?(?: (?:up|running))?[\s?.!]*$|points? d'entrée|einstiegspunkt|точк\S+ вход|入口/iu;
const LANGUAGES =
  /\b(?:which|what|list|show)(?: me)?(?: all| the)* (?:programming |coding )?languages?\b|\bwritten in\b|^languages?[\s?]*$|quels? langages?|welche (?:programmier)?sprachen?|на как\S+ язык|什么语言|编程语言/iu;
const LARGEST =
  /\b(?:biggest|largest|longest)\b.*\bfiles?\b|\bfiles?\b.*\b(?:biggest|largest|longest)\b|größte\p{L}* datei|plus (?:gros|grand)s? fichiers?|最大的文件|самы\S+ больш\S+ файл/iu;
const CHANGED =
  /\b(?:what(?:'s| is| was| has| did)?|which)\b.*\b(?:new|change[ds]?|fix(?:e[sd])?|added|next|latest|bring)\b/i;
const VERSION =
  /\bversions?\b|\bedition\b|верси|版本|\.net\b.*\b(?:target|support)|\b(?:min(?:imum|imal)?|which|what|supported|required?)\b.*\b(?:node|python|php|ruby|java|lua|rust|go|\.net)\b.*\b(?:works?|versions?|supported|needed|required?)/iu;

export const projectFacts: Route = (job) => {
  const {text} = job;
  if (
    text.length > 160 ||
    /[`"“]/.test(text) ||
    text.includes('\n') ||
    /^(?:run|plan|review|create|add|rename|replace|explore)\b|\b(?:outdated|unused|vulnerable)\b/i.test(text)
  )
    return undefined;
  if (ENTRIES.test(text)) return answerView(job, formatEntries);
  if (LANGUAGES.test(text)) return answerView(job, formatLanguages);
  if (LARGEST.test(text)) return listLargest(job);
  const [file] = findPaths(text);
  if (file !== undefined && /^how (?:big|long|large)\b/i.test(text)) return measureFile(file, job);
  const release = /\bv?(\d+\.\d+(?:\.\d+)*)\b/.exec(text)?.[1];
  if (CHANGED.test(text) && (release !== undefined || /\b(?:next|latest|last|new)\b.*\brelease\b/i.test(text)))
    return showChanges(release, job);
  // A question that names a symbol or a file is about that.
  if (findIdentifiers(text).length > 0 || findPaths(text).length > 0) return undefined;
  const topic = TOPICS.find(({asked}) => asked.test(text));
  if (topic) return answerTopic(topic, job);
  return VERSION.test(text) ? answerVersion(job) : undefined;
};

function* answerView(job: Job, format: (view: ProjectView) => string): Work<string> {
  const view = yield* viewProject(job, undefined, 'structure');
  return typeof view === 'string' ? view : format(view);
}

function* answerTopic({names, files = [], lines = '', command}: Topic, job: Job): Work<string> {
  const known = command === undefined ? [] : (yield* readOwnManifests(job)).facts;
  const told = known.flatMap((manifest) => {
    const found = command === undefined ? [] : command === 'dependencies' ? manifest.dependencies : [manifest[command]];
    const isDev = /\bdev/i.test(job.text);
    return found.flatMap((fact) =>
      fact && (!isDev || fact.use === 'dev')
        ? [`${manifest.path}:${fact.line} — \`${fact.name}\`${fact.value ? `: ${code(fact.value)}` : ''}`]
        : [],
    );
  });
  const [named, ...searched] = yield* ask([
    names === undefined ? undefined : job.toolbox.files(`**/${names}`, {limit: 60}),
    ...files.map((glob) => job.toolbox.search({pattern: lines, ignoreCase: true, glob, limit: 150})),
  ]);
  const paths = parsePaths(named!)
    .paths.filter((path) => !isGenerated(path))
    .toSorted(compareDepth);
  const hits = searched.flatMap((result) => selectHits(parseHits(result).hits, MAX_HITS - 4));
  if (paths.length + hits.length + told.length === 0) return yield* answerByText(job);
  return formatRead(job, paths, command === 'dependencies' && told.length > 0 ? [] : hits, told);
}

const MAX_HITS = 40;
/** Lines of one file in an answer. */
const MAX_PER_FILE = 30;

function selectHits(hits: readonly Hit[], limit: number): readonly Hit[] {
  const own = hits.filter((hit) => !isGenerated(hit.path) && hit.text.length < 300);
  const files = [...Map.groupBy(own, (hit) => hit.path)].toSorted(([a], [b]) => compareDepth(a, b));
  return files.flatMap(([, found]) => found.slice(0, MAX_PER_FILE)).slice(0, limit);
}

const compareDepth = (a: string, b: string) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1);

function formatRead(job: Job, paths: readonly string[], hits: readonly Hit[], told: readonly string[] = []): string {
  const places = [...new Set([...told, ...hits.map(citeHit)])];
  return paragraphs(
    phrase('read', findSpeech(job.text)),
    paths.length > 0 && bullets(paths, 12),
    places.length > 0 && bullets(places, MAX_HITS * 2),
  );
}

/** Lines that say which version the project itself has. */
const OWN_VERSION =
  '^\\s*["\']?version["\']?\\s*[:=]|<version>|project\\s*\\(.*VERSION|VERSION *= *["\'\\d]|AssemblyFileVersion\\(|^v?\\d+\\.\\d+(\\.\\d+)?\\s*$|AC_INIT';
const VERSION_FILES = `{${MANIFESTS.slice(1, -1)},version.*,VERSION*,_version.py,__init__.py,AssemblyInfo.cs}`;
const RELEASES = '{CHANGE*,Change*,change*,NEWS*,HISTORY*,History*,RELEASE*}';

/** Answers for the project itself, or for the language or tool that the question names. */
function* answerVersion(job: Job): Work<string> {
  const runtimes = RUNTIMES.filter(([form]) => form.test(job.text)).map(([, lines]) => lines);
  const [, tool] =
    /\b(?:which|what|min(?:imum|imal)?)\s+(?:versions? of\s+)?([\w+#.-]+?)(?:[- ]versions?)?\b/i.exec(
      job.text.replace(/\b(?:which|what|minimum|minimal|min)\s+(?=(?:version|is|the|minimum)\b)/i, 'which '),
    ) ?? [];
  const other =
    tool !== undefined && !/^(?:versions?|is|the|this|that|does|do|edition|are|release|project)$/i.test(tool)
      ? `${escapeRegExp(tool)}.*\\d`
      : undefined;
  const wanted = /\bedition\b/i.test(job.text)
    ? '^edition'
    : [...runtimes, ...(other === undefined ? [] : [other])].join('|');
  const isOwn = wanted === '';
  const [manifests, releases] = yield* ask([
    job.toolbox.search({
      pattern: isOwn ? OWN_VERSION : wanted,
      ignoreCase: true,
      glob: isOwn ? VERSION_FILES : `{${MANIFESTS.slice(1, -1)},${CI.slice(1, -1)}}`,
      limit: 150,
    }),
    isOwn
      ? job.toolbox.search({
          pattern: '^\\W*(version |release |v)?\\[?v?\\d+\\.\\d+',
          ignoreCase: true,
          glob: RELEASES,
          limit: 40,
        })
      : undefined,
  ]);
  // The first line of a manifest is the project's own; the others are versions of what it needs.
  const own = parseHits(manifests!).hits.filter(
    (hit, index, all) => !isOwn || all.findIndex((one) => one.path === hit.path) === index,
  );
  const hits = [...selectHits(own, 12), ...selectHits(parseHits(releases!).hits, 2)];
  return hits.length > 0 ? formatRead(job, [], hits) : yield* answerByText(job);
}

function* measureFile(file: string, job: Job): Work<string> {
  const result = yield* askOne(job.toolbox.search({pattern: '^', path: file, mode: 'count'}));
  const [lines] = parseCounts(result).values();
  return lines === undefined ? notDone(`${getReason(result)}.`) : `${file} has ${count(lines, 'line')}.`;
}

/** Lists the largest files by lines. A folder or language in the request narrows them. */
function* listLargest(job: Job): Work<string> {
  const path = findPaths(job.text)[0]?.replace(/(.)\/$/, '$1');
  const result = yield* askOne(job.toolbox.search({pattern: '^', path, mode: 'count', limit: 5000}));
  const isFolder = parseHits(result).known;
  const sizes = [...parseCounts(result)].filter(
    ([file]) => isCode(file) && !isGenerated(file) && !(/\bnot\b.*\btests?\b/i.test(job.text) && isTest(file)),
  );
  if (!isFolder || sizes.length === 0) return yield* answerByText(job);
  const lines = sizes.toSorted(([, a], [, b]) => b - a).map(([file, size]) => `${file} — ${count(size, 'line')}`);
  return `The largest of ${count(sizes.length, 'code file')}${path === undefined ? '' : ` in ${path}`}:\n${bullets(lines.slice(0, 10))}`;
}

/** Shows what the list of changes says of a release. @param release undefined for the newest */
function* showChanges(release: string | undefined, job: Job): Work<string> {
  const version = release === undefined ? '\\d+\\.\\d+|unreleased|head\\b|next\\b' : escapeRegExp(release);
  const pattern = `^\\W*(version |release |\\w+ )?\\[?v?(${version})(\\W|$)`;
  const [first] = parseHits(
    yield* askOne(job.toolbox.search({pattern, ignoreCase: true, glob: RELEASES, limit: 60})),
  ).hits.toSorted((a, b) => compareDepth(a.path, b.path) || a.line - b.line);
  if (first === undefined) return yield* answerByText(job);
  const lines = parseLines(yield* askOne(job.toolbox.read(first.path, first.line, 30))) ?? [];
  return `${first.path}:${first.line}:\n\n${fenced(numbered(lines), '')}`;
}
