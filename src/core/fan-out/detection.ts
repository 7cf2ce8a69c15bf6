/**
 * Detects by its words whether a prompt asks for the same work on many files: "Refactor all files in src/tools/",
 * "给每个函数添加注释". Questions, wishes and quoted texts do not count. It knows English, French, Chinese and Russian, also
 * mixed.
 */
import {chinese} from './languages/chinese.ts';
import {english} from './languages/english.ts';
import {french} from './languages/french.ts';
import {PATH, type PromptLanguage, QUOTED} from './languages/language.ts';
import {russian} from './languages/russian.ts';
import {hasQuantifier} from './quantifiers.ts';

const LANGUAGES: readonly PromptLanguage[] = [english, french, chinese, russian];
/** Matches characters of paths, with `@` before a mention. Chinese characters may be directly next to it. */
export const PATH_TOKEN = /(?<![\w.@/*~-])@?[\w.~*/{[][\w.@~*?+,/{}[\]-]*/g;

/** Whether the word names files by a pattern: `*.ts`, `src/**`, `{a,b}.js`. */
export function isPattern(token: string): boolean {
  return /\*/.test(token) || /\{[^{}]*,[^{}]*\}/.test(token);
}

/** Number of characters. A longer prompt has its own plan, so no single sentence of it may decide. */
const MAX_PROMPT = 4_000;

/** `files`: the prompt speaks of files. `code`: it speaks of functions, classes and the like, wherever they are. */
export type FanOutUnit = 'files' | 'code';

/** @returns undefined when the prompt is not to be split */
export function detectFanOut(prompt: string): FanOutUnit | undefined {
  if (prompt.length > MAX_PROMPT || /^\s*[/!#]/.test(prompt) || !hasQuantifier(prompt)) return undefined;
  const sentences = splitSentences(maskTexts(prompt));
  for (const sentence of sentences) {
    const unit = judgeSentence(sentence);
    if (unit) return unit;
  }
  return undefined;
}

/** Replaces quoted texts and paths by placeholders, so that their words do not count. */
function maskTexts(prompt: string): string {
  return prompt
    .replace(/```[\s\S]*?(?:```|$)/g, ` ${QUOTED} `)
    .replace(/`([^`\n]*)`/g, (_, text: string) => (isPattern(text) ? ` ${text} ` : ` ${QUOTED} `))
    .replace(/"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu, ` ${QUOTED} `)
    .replace(PATH_TOKEN, (token) =>
      isPattern(token) ? ` ${PATH} ` : token.includes('/') || /\.\w+$/.test(token) ? QUOTED : token,
    );
}

function splitSentences(text: string): string[] {
  return text
    .split(/(?<=[.!?。！？；])(?=\s|$|[\p{Script=Han}])|\n+/u)
    .map((sentence) =>
      sentence
        .trim()
        .replace(
          /^(?:please|hi|hello|hey|ok(?:ay)?|now|so|well|also|and|then|just|s['’]il\s+(?:te|vous)\s+pla[iî]t|пожалуйста)(?![\p{L}])[,:!]?\s*/iu,
          '',
        ),
    )
    .map((sentence) => sentence.replace(/^(?:[-*•]|\d+[.)])\s+/, ''))
    .filter((sentence) => sentence !== '');
}

function judgeSentence(sentence: string): FanOutUnit | undefined {
  for (const language of LANGUAGES) {
    const unit = findUnit(sentence, language);
    if (unit && asksForWork(sentence, unit, language)) return unit;
  }
  return undefined;
}

function findUnit(sentence: string, {quantified, changes}: PromptLanguage): FanOutUnit | undefined {
  if (quantified.files.test(sentence)) return 'files';
  if (quantified.code.test(sentence)) return 'code';
  // A pattern names many files by itself: "Rename a to b in src/*.ts".
  return sentence.includes(PATH) && changes.test(sentence) ? 'files' : undefined;
}

function asksForWork(sentence: string, unit: FanOutUnit, language: PromptLanguage): boolean {
  const {asks, requests, wishes, aside, reads, thenChanges, handles} = language;
  const isRequest = requests.test(sentence);
  const work = isRequest ? sentence.replace(requests, '').replace(/^\s*(?:please|kindly)?\s*/i, '') : sentence;
  if (!isRequest && (asks.test(sentence) || (/[?？]\s*$/.test(sentence) && !isImperative(work, language))))
    return false;
  // A sentence with the form of a request may contain a question: 你能解释为什么….
  if (isRequest && asks.test(work.replace(/[吗呢么][?？]?$/u, ''))) return false;
  if (wishes.test(sentence) || aside.test(sentence)) return false;
  if (reads.test(work)) return thenChanges.test(work);
  if (handles.test(work)) {
    // The rest may ask for more work: "update every file, and list all files".
    const rest = work.replace(handles, ' ').trim();
    return thenChanges.test(work) || judgeSentence(rest) !== undefined;
  }
  return unit === 'code' ? hasChange(work, language) : isImperative(work, language) || isFragment(work, language);
}

/** English verbs occur in prompts of all languages: "refactor 所有文件". */
function hasChange(text: string, {changes}: PromptLanguage): boolean {
  return changes.test(text) || english.changes.test(text);
}

function isImperative(text: string, language: PromptLanguage): boolean {
  return hasChange(text, language) || language.checks.test(text) || english.checks.test(text);
}

/** Accepts "all *.ts files" with nothing before it, or with one word that may be a verb: "Dockerize every file". */
function isFragment(text: string, {quantified}: PromptLanguage): boolean {
  const before = text.slice(0, quantified.files.exec(text)?.index).trim();
  return (
    before === '' ||
    /^(?!(?:the|a|an|i|we|it|this|that|these|those|not|in|of|for|with|from|if|when|while|but|le|la|les|un|une|je|nous|il|я|мы|он|не|нет)$)\p{L}+$/iu.test(
      before,
    )
  );
}
