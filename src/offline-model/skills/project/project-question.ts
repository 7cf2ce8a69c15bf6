/**
 * Answers short questions about the project: entry points, languages, and how to build, start and test it.
 */

import {getLanguage, isCode} from '../../../core/util/file-kinds.ts';
import type {Fact} from '../../../core/util/manifests.ts';
import {getPathRank} from '../../places.ts';
import {bullets, code, notDone, paragraphs} from '../../report.ts';
import type {Job, Route, Work} from '../../skill.ts';
import {formatEntries, formatLanguages, formatTests} from './explore.ts';
import {type Focus, type ProjectView, viewProject} from './project-view.ts';

type Topic = 'entries' | 'languages' | 'build' | 'start' | 'test';

const ASKED =
  /^(?:what|which|where|how|in (?:what|which)|list|show|find|name|tell me|give me|is there|are there|quels?|quelles?|comment|как|какие|какой|на как|где|怎么|如何|什么|哪些)(?![\w-])/iu;
const TOPICS: readonly (readonly [RegExp, Topic])[] = [
  [/\bentry ?-?points?\b|points? d'entrée|точк\S+ вход|入口/iu, 'entries'],
  [/\b(?:program|app\w*|execution|code|it|project)\s+(?:start|begin|enter)s?(?: (?:up|running))?[\s?.!]*$/i, 'entries'],
  [/\b(?:programming |coding )?languages?\b|\bwritten in[\s?.!]*$|langages?|язык|什么语言|编程语言/iu, 'languages'],
  [
    /^how\b.*\b(?:run|execute|start|launch)\b.*\btests?\b|^how\b.*\btest(?:s|ed)?\b|^where\b.*\btests?\b|\btests? (?:command|runner)\b/i,
    'test',
  ],
  [/(?:lancer|exécuter) les tests|запустить тесты|(?:运行|跑)测试/iu, 'test'],
  [/^how\b.*\b(?:build|built|compiled?|install(?:ed)?|set ?up)\b|\b(?:build|install) command\b/i, 'build'],
  [/^comment (?:compiler|construire|installer)|^как (?:собрать|установить)|(?:怎么|如何)(?:构建|编译|安装)/iu, 'build'],
  [/^how\b.*\b(?:run|start|launch|execute|use)\b|\b(?:start|run) command\b/i, 'start'],
  [/^comment (?:lancer|démarrer)|^как запустить|(?:怎么|如何)(?:运行|启动)/iu, 'start'],
];
/** Words of such questions. A question with other words is for another skill. */
const COMMON =
  /\b(?:what|which|where|how|in|list|show|find|name|tell|give|me|is|are|there|the|this|that|these|it|its|here|do|does|can|could|should|would|to|i|we|you|one|all|any|of|for|a|an|main|project'?s?|code|code ?base|repo|repository|app|application|program|programming|coding|software|package|library|crate|module|thing|used|use|uses|using|written|with|made|entry|entrypoints?|points?|languages?|build|built|compile|compiled|install|installed|set|up|setup|run|running|execute|executed|start|starts|begin|begins|launch|test|tests|tested|testing|suite|unit|command|commands|scripts?|npm|available|exist|defined|runner|execution|enter|locally|from|source|and|please|kind|have|has|get|works?|live|located|current|where's|what's)\b|file:line/giu;

export const projectQuestion: Route = (job) => {
  const {text} = job;
  if (!ASKED.test(text) || text.length > 120 || /[`"“]/.test(text)) return undefined;
  const topic = TOPICS.find(([form]) => form.test(text))?.[1];
  if (topic === undefined) return undefined;
  // The list has only English words. The forms in other languages are narrow enough without it.
  const other = /^[a-z]/i.test(text) && !/^(?:quel|comment)/i.test(text) ? text.replace(COMMON, '') : '';
  return /\p{L}/u.test(other) ? undefined : answerTopic(topic, job);
};

function* answerTopic(topic: Topic, job: Job): Work<string> {
  const focus: Focus = topic === 'test' ? 'tests' : 'structure';
  const view = yield* viewProject(job, undefined, focus);
  if (typeof view === 'string') return view;
  if (topic === 'entries') return formatEntries(view);
  if (topic === 'languages') return answerLanguages(view);
  if (topic === 'test') return paragraphs(formatTests(view), quoteReadme(view, /\btests?\b|pytest|vitest|jest/i));
  if (topic === 'build') {
    const commands = formatFacts(view, (fact) => fact.build);
    return formatCommands(view, 'builds it', commands, /\b(?:install|build|make|compile|setup|sync)\b/i);
  }
  const started = view.entries.flatMap(({path, line, text}) => getRunCommand(path, line, text));
  const commands = [...formatFacts(view, (fact) => fact.start), ...started];
  return formatCommands(view, 'starts it', commands, /\b(?:run|start|serve|exec|python3?|node|npx|docker)\b/i);
}

/** Answers with the languages, and an example file of the main one. */
function answerLanguages(view: ProjectView): string {
  const sources = view.paths.filter((path) => isCode(path) && getPathRank(path) === 0);
  const byLanguage = Map.groupBy(sources, (path) => getLanguage(path)!);
  const [most] = [...byLanguage].sort(([, a], [, b]) => b.length - a.length);
  const entry = view.entries.find((one) => getLanguage(one.path) === most?.[0]);
  const example = most?.[1].toSorted()[0];
  const place = entry ? `${entry.path}:${entry.line}` : `${example}:1`;
  const manifest = view.facts.find((fact) => fact.name)?.name;
  const from = manifest && view.facts.find((fact) => fact.name === manifest);
  return paragraphs(
    formatLanguages(view),
    most &&
      `Most of the source is ${most[0]}, e.g. ${place}.${from ? ` Its manifest: ${from.path}:${manifest.line}.` : ''}`,
  );
}

/** @param what what the commands do: "builds it" */
function formatCommands(view: ProjectView, what: string, commands: readonly string[], inReadme: RegExp): string {
  const readme = quoteReadme(view, inReadme);
  const looked = view.facts.map((fact) => fact.path).join(', ') || 'this folder: it has no manifest that I know';
  const none = `I found no command that ${what} in ${looked}.`;
  if (commands.length > 0) return paragraphs(`What ${what}:\n${bullets([...new Set(commands)], 6)}`, readme);
  return readme === '' ? notDone(none) : paragraphs(none, readme);
}

/** Returns the command that runs a file with a main function, in its language. */
function getRunCommand(path: string, line: number, text: string): readonly string[] {
  const folder = path.includes('/') ? `./${path.replace(/\/[^/]*$/, '')}` : '.';
  const language = getLanguage(path);
  const command =
    language === 'Rust' && /(^|\/)src\/main\.rs$/.test(path)
      ? 'cargo run'
      : language === 'Go' && /func main\(/.test(text)
        ? `go run ${folder}`
        : language === 'Python' && /__name__/.test(text)
          ? `python ${path}`
          : undefined;
  return command === undefined ? [] : [`\`${command}\` — ${path}:${line} is its main function`];
}

function formatFacts(
  view: ProjectView,
  pick: (fact: ProjectView['facts'][number]) => Fact | undefined,
): readonly string[] {
  return view.facts.flatMap((fact) => {
    const found = pick(fact);
    return found ? [formatFact(fact.path, found)] : [];
  });
}

function formatFact(path: string, fact: Fact): string {
  return `\`${fact.name}\`${fact.value ? ` (${code(fact.value)})` : ''} — ${path}:${fact.line}`;
}

/** Quotes commands from the code blocks of the README. */
function quoteReadme({readme}: ProjectView, about: RegExp): string {
  const command =
    /^\s*(?:\$\s+|>\s+)?((?:npm|npx|yarn|pnpm|bun|deno|node|pip3?|pipx|python3?|pytest|uv|poetry|cargo|go|make|just|docker|mvn|\.\/|gradle|cmake|ctest|bundle|rake|mix|dotnet|git clone)\b.*)$/;
  let fenced = false;
  const found = (readme?.lines ?? []).flatMap(({text, number}) => {
    if (/^\s*(```|~~~)/.test(text)) fenced = !fenced;
    const shown = fenced || /^( {4}|\t)/.test(text) ? command.exec(text)?.[1] : undefined;
    return shown !== undefined && about.test(shown.replace(/\s#.*$/, ''))
      ? [`${readme!.path}:${number} — ${code(shown)}`]
      : [];
  });
  return found.length > 0 ? `The README shows:\n${bullets(found.slice(0, 5))}` : '';
}
