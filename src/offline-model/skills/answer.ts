/** For requests that no other skill takes: searches for the names and words of the request and shows what was found. */

import {parseDefinition} from '../definitions.ts';
import {isCode} from '../languages.ts';
import {getDocComment, getFileHeader} from '../prose.ts';
import {findRelevantFiles, type RelevantFile} from '../relevant-files.ts';
import {bullets, cannot, citeHit, clip, firstSentence, paragraphs} from '../report.ts';
import {type Line, parseLines} from '../results.ts';
import {ask, type Job, type Work} from '../skill.ts';

/** Verbs of work that needs a language model. */
const ACTION =
  /^(?:add|implement|fix|refactor|write|make|build|create|update|improve|optimi[sz]e|convert|migrate|delete|remove|move|change|edit|insert|append|port|upgrade|install|commit|push|deploy|generate|translate|solve|debug|debugge|compare|set up|configure|format|clean|simplify|rewrite|extract|split|merge|test|bump|document|ajoute|corrige|améliore|écris|исправь|добавь|напиши|сделай|реализуй|улучши|удали|添加|修复|实现|重构|优化|删除|编写|写|改进)/iu;
const QUESTION =
  /^(?:how|why|what|which|when|where|who|is|are|does|do|did|can|could|should|explain|describe|tell|show|find|look|trace|walk|search|comment|pourquoi|quel|как|почему|зачем|что|где|объясни|怎么|为什么|如何|解释)|\?\s*$|[?？吗]\s*$/iu;

export function* answer(job: Job): Work<string> {
  const isAction = ACTION.test(job.text);
  const {words, files} = yield* findRelevantFiles(job.toolbox, job.text);
  const relevant = files
    .filter((file) => file.words.length >= Math.min(words.length, Math.max(1, Math.ceil(words.length / 2))))
    .slice(0, 6);
  const chosen = relevant.length > 0 ? relevant : files.slice(0, 4);
  if (chosen.length === 0) {
    const asked =
      words.length > 0 ? ` Nothing here is named like ${words.map((word) => `\`${word}\``).join(', ')}.` : '';
    return cannot(`this needs a language model; I only follow rules.${asked}`);
  }
  const code = chosen.filter((file) => isCode(file.path)).slice(0, 2);
  const texts = yield* ask(code.map((file) => job.toolbox.read(file.path, undefined, 600)));
  const readFiles = new Map(code.map((file, index) => [file.path, parseLines(texts[index])]));
  const found = paragraphs(
    `Found for ${words.map((word) => `\`${word}\``).join(', ')}:`,
    ...chosen.map((file) => formatFile(file, words, readFiles.get(file.path))),
  );
  if (isAction) return cannot('writing or changing code freely needs a language model.', found);
  if (!QUESTION.test(job.text) && !job.main) return found;
  if (!QUESTION.test(job.text)) return cannot('this needs a language model; I only follow rules.', found);
  return paragraphs(found, 'These are search results with the comments in the code. I do not understand the code.');
}

function formatFile(file: RelevantFile, words: readonly string[], lines: readonly Line[] | undefined): string {
  const header = lines && getFileHeader(lines);
  const named = lines ? findDefinitionsAbout(lines, words) : [];
  const places =
    named.length > 0
      ? named
      : file.definitions.length > 0
        ? file.definitions
        : [file.best].filter((hit) => hit !== undefined);
  const items = places.slice(0, lines ? 6 : 2).map((hit) => {
    const doc = lines && getDocComment(lines, 'line' in hit ? hit.line : 0);
    const kind = parseDefinition(hit.text)?.kind;
    return `${citeHit({...hit, path: file.path, kind})}${doc ? `\n  > ${firstSentence(doc)}` : ''}`;
  });
  const title = `**${file.path}**${header ? ` — ${firstSentence(header)}` : ''}`;
  return items.length > 0
    ? `${title}\n${bullets(items)}`
    : `${title} ${clip(`(${file.words.join(', ')} in its name)`, 80)}`;
}

/** Definitions whose name or comment contains one of the words, the best match first. */
function findDefinitionsAbout(
  lines: readonly Line[],
  words: readonly string[],
): readonly {line: number; text: string}[] {
  const stems = words.map((word) => word.toLowerCase().slice(0, Math.max(4, word.length - 3)));
  return lines
    .filter(
      (line) =>
        !/^\s{5,}/.test(line.text) &&
        parseDefinition(line.text) !== undefined &&
        !/^\s+(?:const|let|var)\b/.test(line.text),
    )
    .map((line) => {
      const text = `${parseDefinition(line.text)!.name} ${getDocComment(lines, line.number) ?? ''}`.toLowerCase();
      return {line: line.number, text: line.text, matches: stems.filter((stem) => text.includes(stem)).length};
    })
    .filter((one) => one.matches > 0)
    .sort((a, b) => b.matches - a.matches || a.line - b.line);
}
