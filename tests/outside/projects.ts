/** The twelve projects, in eleven languages, that the offline model answers questions about. */
import type {Source} from './downloads.ts';
import type {Parser} from './oracle.ts';

export interface AskedProject extends Source {
  readonly name: string;
  readonly language: string;
  readonly extensions: readonly string[];
  readonly parser: Parser;
  /** Test files, by the project's own set-up. */
  readonly tests: RegExp;
  /** A folder of the archive that holds only what is built from the sources. */
  readonly built?: string;
  /** Two files or modules whose importers are asked for, with the form of an import of it. */
  readonly imported: readonly {readonly what: string; readonly form: RegExp}[];
  /** The language of one of the questions. */
  readonly speaks: 'en' | 'fr' | 'de' | 'zh' | 'ru';
}

export const ASKED_PROJECTS: readonly AskedProject[] = [
  {
    name: 'express 4.18.2',
    language: 'JavaScript',
    extensions: ['js'],
    parser: 'typescript',
    from: {debian: 'node-express'},
    file: /^node-express_.*\.orig\.tar\.gz$/,
    sha256: 'a9ace1a92a2b0a7e3fcd7a7612553d6208a464561c15ad38f349fc3ab0d7cda0',
    tests: /^test\/.*\.js$/,
    imported: [
      {what: 'lib/utils.js', form: /require\(['"](?:\.\/utils|\.\.\/lib\/utils)(?:\.js)?['"]\)/},
      {what: 'lib/router/index.js', form: /require\(['"](?:\.\/router|\.\.\/lib\/router)(?:\/index)?['"]\)/},
    ],
    speaks: 'fr',
  },
  {
    name: 'yargs 16.2.0',
    language: 'TypeScript',
    extensions: ['ts', 'cjs', 'mjs', 'js'],
    parser: 'typescript',
    from: {debian: 'node-yargs'},
    file: /^node-yargs_.*\.orig\.tar\.gz$/,
    sha256: '0e8c48f6d8666ccbbcca9cc9b01de8c679bac448189c091e950ef6d06133da5d',
    tests: /^test\/.*\.(?:cjs|mjs|ts|js)$/,
    imported: [
      {what: 'lib/usage.ts', form: /from\s+['"](?:\.\/|\.\.\/)usage\.js['"]/},
      {what: 'lib/utils/is-promise.ts', form: /from\s+['"]\.\/(?:utils\/)?is-promise\.js['"]/},
    ],
    speaks: 'de',
  },
  {
    name: 'rxjs 7.8.1',
    language: 'TypeScript',
    extensions: ['ts'],
    parser: 'typescript',
    from: {npm: 'rxjs@7.8.1'},
    file: /^rxjs-7\.8\.1\.tgz$/,
    built: 'dist',
    sha256: 'c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149',
    tests: /(?!)/,
    imported: [
      {what: 'src/internal/util/isPromise.ts', form: /from\s+['"][./a-z]*isPromise['"]/},
      {
        what: 'src/internal/observable/race.ts',
        form: /from\s+['"](?:\.\/|\.\.\/observable\/|\.\/internal\/observable\/)race['"]/,
      },
    ],
    speaks: 'zh',
  },
  {
    name: 'jinja2 3.1.2',
    language: 'Python',
    extensions: ['py'],
    parser: 'python',
    from: {debian: 'jinja2'},
    file: /^jinja2_.*\.orig\.tar\.gz$/,
    sha256: '31351a702a408a9e7595a8fc6150fc3f43bb6bf7e319770cbc0db9df9437e852',
    tests: /^tests\/.*\.py$/,
    imported: [
      {what: 'src/jinja2/idtracking.py', form: /^\s*from\s+(?:\.|jinja2\.)idtracking\s+import/},
      {what: 'src/jinja2/lexer.py', form: /^\s*from\s+(?:\.|jinja2\.)lexer\s+import|^\s*from jinja2 import.*\blexer\b/},
    ],
    speaks: 'ru',
  },
  {
    name: 'pflag 1.0.6',
    language: 'Go',
    extensions: ['go'],
    parser: 'scanner',
    from: {debian: 'golang-github-spf13-pflag'},
    file: /^golang-github-spf13-pflag.*\.orig\.tar\.xz$/,
    sha256: '9b21056481ebf33e78a80ae999a714abb29392a5995a515bc8fefd6d88b6b204',
    tests: /_test\.go$/,
    imported: [
      {what: 'encoding/csv', form: /^\s*(?:import\s+)?"encoding\/csv"/},
      {what: 'reflect', form: /^\s*(?:import\s+)?"reflect"/},
    ],
    speaks: 'en',
  },
  {
    name: 'fd 8.6.0',
    language: 'Rust',
    extensions: ['rs'],
    parser: 'scanner',
    from: {debian: 'rust-fd-find'},
    file: /^rust-fd-find_.*\.orig\.tar\.gz$/,
    sha256: 'c69c79334a9156267f0bd35464d6868854d6bcb29eb6af0eea337760e4850f00',
    tests: /^tests\/.*\.rs$/,
    imported: [
      {what: 'lscolors', form: /^\s*use\s+lscolors\b/},
      {what: 'anyhow', form: /^\s*use\s+anyhow\b/},
    ],
    speaks: 'fr',
  },
  {
    name: 'commons-csv 1.9.0',
    language: 'Java',
    extensions: ['java'],
    parser: 'scanner',
    from: {debian: 'libcommons-csv-java'},
    file: /^commons-csv_.*\.orig\.tar\.xz$/,
    sha256: '661252998cf2b9aac1aa12fe9e104dc23190761a8971384f83a6c1fc02536867',
    tests: /^src\/test\/.*\.java$/,
    imported: [
      {what: 'java.io.StringReader', form: /^import\s+java\.io\.StringReader;/},
      {
        what: 'org.apache.commons.csv.CSVFormat',
        form: /^import\s+(?:static\s+)?org\.apache\.commons\.csv\.CSVFormat(?:\.\w+)*;/,
      },
    ],
    speaks: 'de',
  },
  {
    name: 'jansson 2.14',
    language: 'C',
    extensions: ['c', 'h'],
    parser: 'scanner',
    from: {debian: 'jansson'},
    file: /^jansson_.*\.orig\.tar\.gz$/,
    sha256: 'c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b',
    tests: /^test\/.*\.[ch]$/,
    imported: [
      {what: 'src/utf.h', form: /^\s*#\s*include\s+"utf\.h"/},
      {what: 'src/strbuffer.h', form: /^\s*#\s*include\s+"strbuffer\.h"/},
    ],
    speaks: 'zh',
  },
  {
    name: 'tinyxml2 9.0.0',
    language: 'C++',
    extensions: ['cpp', 'h'],
    parser: 'scanner',
    from: {debian: 'tinyxml2'},
    file: /^tinyxml2_.*\.orig\.tar\.xz$/,
    sha256: '96510f47a5db537f70dff3e83dd71fd2180cbba4aa76c589a549467e7f34bc9b',
    tests: /^xmltest\.cpp$|^test\//,
    imported: [
      {what: 'tinyxml2.h', form: /^\s*#\s*include\s+"(?:\.\.\/)*tinyxml2\.h"/},
      {what: 'cstdio', form: /^\s*#\s*include\s+<cstdio>/},
    ],
    speaks: 'ru',
  },
  {
    name: 'puma 5.6.5',
    language: 'Ruby',
    extensions: ['rb'],
    parser: 'scanner',
    from: {debian: 'puma'},
    file: /^puma_.*\.orig\.tar\.gz$/,
    sha256: '8c056fddcf3acefb4547bff3533741cd8e8a1b08c3ff0a60a5ec68f208b4659b',
    tests: /^test\/.*\.rb$/,
    imported: [
      {
        what: 'lib/puma/detect.rb',
        form: /^\s*require(?:_relative)?\s*\(?['"](?:puma\/|\.\/|\.\.\/lib\/puma\/)?detect['"]/,
      },
      {what: 'lib/puma/minissl.rb', form: /^\s*(?:require|require_relative)\s*\(?['"](?:puma\/|\.\/)?minissl['"]/},
    ],
    speaks: 'en',
  },
  {
    name: 'twig 3.5.1',
    language: 'PHP',
    extensions: ['php'],
    parser: 'scanner',
    from: {debian: 'php-twig'},
    file: /^php-twig_.*\.orig\.tar\.xz$/,
    sha256: '1c6b0b85a6076bc2a96e916121dbb473a650a521b4ff82036fb7806d78dfef03',
    tests: /Test\.php$|^tests\/.*\.php$/,
    imported: [
      {what: 'src/Node/PrintNode.php', form: /^use\s+Twig\\Node\\PrintNode\b/},
      {what: 'src/Loader/ArrayLoader.php', form: /^use\s+Twig\\Loader\\ArrayLoader\b/},
    ],
    speaks: 'fr',
  },
  {
    name: 'dbus-sharp 0.8.1',
    language: 'C#',
    extensions: ['cs'],
    parser: 'scanner',
    from: {debian: 'dbus-sharp'},
    file: /^dbus-sharp_.*\.orig\.tar\.gz$/,
    sha256: '0866c001f2d6e01a6f1b4d080db08d25ba1422e34c7d03020e0e70f3de3a9859',
    tests: /^tests\/.*\.cs$/,
    imported: [
      {what: 'System.Reflection.Emit', form: /^\s*using\s+System\.Reflection\.Emit\s*;/},
      {what: 'System.Threading', form: /^\s*using\s+System\.Threading\s*;/},
    ],
    speaks: 'de',
  },
];
