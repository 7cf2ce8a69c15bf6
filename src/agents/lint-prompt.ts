/** Does a prompt promise what the tools don't allow, or forbid what they do? Guesses from English words: warnings only. */

import type {Place, ProblemList} from '../core/problem.ts';
import type {LoadedAgent} from './catalog.ts';
import {fateOf, WRITING_TOOLS} from './known-tools.ts';

/** Characters. */
const SHORT = 40;
/** Characters of a sentence that are looked at. */
const SENTENCE = 400;

const NEGATED = /\b(?:never|not|cannot|without|instead of|rather than|nor|no)\b|n['’]t\b/i;
/** Somebody else is to do it. */
const SUGGESTED = /\b(?:how|suggest|recommend|propose|report|describe|explain|list|ask|should be)\w*\b/i;

const WRITE =
  '(?:write|edit|modify|fix|create|update|rewrite|refactor|implement|apply|add|delete|rename|commit|repair)';
const WRITTEN =
  '(?:files?|code|tests?|bugs?|issues?|changes?|patch|patches|fix|fixes|docs|documentation|functions?|implementations?|it|them)';
const PROMISES_WRITING = new RegExp(
  `(?:^|\\b(?:then|and|also|always|can|may|will|must|you|directly)\\s+)${WRITE}\\s+(?:[\\w-]+\\s+){0,4}?${WRITTEN}\\b`,
  'i',
);
const PROMISES_RUNNING =
  /\brun\s+(?:[\w-]+\s+){0,2}?(?:tests?|suite|linters?|builds?|commands?|scripts?|npm|git|checks?)\b|\bgit (?:log|diff|blame|status|show)\b/i;
const FORBIDS_WRITING =
  /\b(?:never|must not|do not|don['’]t|without)\s+(?:ever\s+)?(?:modif|chang|edit|writ|touch|alter)\w*\s+(?:to\s+)?(?:any|the|a|source)?\s*(?:files?|code|anything|sources?)\b\s*(?:[.,;!)]|$)|\byou are read-only\b/i;
const TOOL_WORDS =
  /\b(?:read_file|write_file|edit_file|todo_write|web_fetch|TodoWrite|WebFetch|WebSearch|NotebookEdit|MultiEdit|mcp__\w+)\b/g;

export function lintPrompt(
  agent: LoadedAgent,
  toolNames: readonly string[],
  place: Place,
  problems: ProblemList,
): void {
  const {prompt} = agent.definition;
  const {tools, readOnly} = agent;
  if (prompt.trim().length < SHORT) {
    problems.warn(
      'short-prompt',
      place,
      'prompt is too short to work by: say how to work, what to check, how to report',
    );
  }
  const sentences = sentencesOf(prompt);
  const asked = sentences.filter((sentence) => !NEGATED.test(sentence));
  const runs = tools.includes('bash');
  const writes = tools.some((name) => WRITING_TOOLS.has(name));

  const promise = asked.find((sentence) => PROMISES_WRITING.test(sentence) && !SUGGESTED.test(sentence));
  if (promise !== undefined && !writes && (readOnly || !runs)) {
    const why = readOnly ? 'the agent is read-only' : 'it has no tool that writes';
    problems.warn('promises-writing', place, `prompt says "${cut(promise)}", but ${why}`);
  }
  const running = asked.find((sentence) => PROMISES_RUNNING.test(sentence) && !SUGGESTED.test(sentence));
  if (running !== undefined && !runs) {
    problems.warn('promises-running', place, `prompt says "${cut(running)}", but it has no bash`);
  }
  const forbids = sentences.find((sentence) => FORBIDS_WRITING.test(sentence));
  if (forbids !== undefined && !readOnly && (writes || runs)) {
    const able = tools.filter((name) => name === 'bash' || WRITING_TOOLS.has(name)).join(', ');
    const how = 'with "readOnly": true the system sees to it';
    problems.warn('forbids-writing', place, `prompt says "${cut(forbids)}", but it has ${able}: ${how}`);
  }
  lintToolWords(asked, agent, toolNames, place, problems);
}

function lintToolWords(
  sentences: readonly string[],
  {tools}: LoadedAgent,
  toolNames: readonly string[],
  place: Place,
  problems: ProblemList,
): void {
  const words = new Set(sentences.flatMap((sentence) => sentence.match(TOOL_WORDS) ?? []));
  for (const word of words) {
    const fate = fateOf(word, toolNames);
    if (fate.kind === 'known' ? tools.includes(fate.name) : fate.kind === 'dispatching') continue;
    const why = fate.kind === 'known' ? 'it is not among its tools' : fate.reason;
    problems.warn('missing-tool', place, `prompt speaks of ${word}, which the agent does not have: ${why}`);
  }
}

function sentencesOf(text: string): string[] {
  return text
    .split(/[.!?;:](?=\s)|\n/)
    .map((sentence) =>
      sentence
        .replace(/^[\s>#*\-\d.)]+/, '')
        .slice(0, SENTENCE)
        .trim(),
    )
    .filter((sentence) => sentence !== '');
}

function cut(sentence: string): string {
  return sentence.length > 80 ? `${sentence.slice(0, 79)}…` : sentence;
}
