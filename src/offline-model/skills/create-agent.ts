/** Handles "create an agent that …": drafts a definition from its description, as plain JSON, and writes it. */

import {toFields} from '../../core/util/objects.ts';
import {fenced, paragraphs} from '../report.ts';
import type {Job, Route, Work} from '../skill.ts';
import {findKeywords, plainRequest} from '../words.ts';
import {writeNew} from './create.ts';

const REVIEWS = /\breview|audit\b|critique|ревью|проверк[аи] кода|revue|relire|审查|评审/iu;

const READ_ONLY =
  /read[- ]?only|without (?:changing|modifying|editing|writing)|(?:never|not|no) (?:change|modify|edit|write)|only (?:read|report|look)|lecture seule|только (?:чтение|читать)|只读/iu;
const WRITES =
  /\b(?:write|edit|fix|creat|implement|modif|chang|refactor|generat|add|updat|migrat|debug|document|optimi)\w*|исправ|пис|修改|编写|重构/iu;

/** Returns whether the answer must be an agent definition. */
export function asksForDefinition(answerSchema: Readonly<Record<string, unknown>> | undefined): boolean {
  const fields = toFields(answerSchema?.properties);
  return ['name', 'description', 'tools', 'prompt'].every((field) => Object.hasOwn(fields, field));
}

export function draftDefinition(request: string): string {
  const description = getDescription(request);
  const isReviewer = REVIEWS.test(description);
  const called = /\b(?:called|named)\s+[`"']?([a-z][a-z0-9-]{1,63})\b/i.exec(description)?.[1]?.toLowerCase();
  const mayWrite = !READ_ONLY.test(description) && (isReviewer ? /\bfix|\bedit/i : WRITES).test(description);
  const subject = description.replace(/^(?:an?|the|my|une?)\s+/i, '').replace(/[\s.]+$/, '');
  const prompt = [
    `You are ${/^(?:an?|the)\s/i.test(description) ? '' : 'an agent for this: '}${description.replace(/[\s.]+$/, '')}.`,
    isReviewer
      ? 'Look for bugs, unclear names, missing error handling, duplicated code and missing tests.'
      : 'Keep to this purpose, and read the files before you judge or act.',
    'Start from what you were asked, look at the files themselves, and do not guess names, paths or results.',
    mayWrite
      ? 'Make the smallest change that does the job, then run what checks it and say how it ended.'
      : 'Never modify files; only report what you find.',
    'Report briefly: the result first, then each finding with path:line, and what you could not check.',
  ].join(' ');
  const fields = {
    name: called ?? (isReviewer ? 'reviewer' : kebab(subject)),
    description: `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`.slice(0, 200),
    tools: mayWrite ? '*' : ['bash', 'read_file', 'grep', 'glob'],
    prompt,
  };
  return JSON.stringify(fields, null, 2);
}

/** Returns the user's description of the agent, without the instructions around it. */
function getDescription(request: string): string {
  const marked = /<description>([\s\S]*?)<\/description>/.exec(request)?.[1] ?? request;
  const plain = marked.trim().replace(/\s*\n\s*/g, ' ');
  return (
    plainRequest(plain)
      .replace(/^(?:create|make|draft|write|define|build|add)\s+(?:me\s+)?(?=(?:an?|the)\s)/i, '')
      .slice(0, 400)
      .trim() || 'a helper for this project'
  );
}

function kebab(text: string): string {
  const words = findKeywords(text)
    .join('-')
    .toLowerCase()
    .split(/[^a-z]+/);
  const named = words.filter(
    (word) => word !== '' && !/^(?:agent|subagent|assistant|expert|helper|access)s?$/.test(word),
  );
  return named.slice(0, 3).join('-').slice(0, 64).replace(/-$/, '') || 'helper';
}

/** Version of the format of agent definitions. Its schema is not imported, because that would load zod. */
const FORMAT_VERSION = 1;

const ASKED =
  /^(?:create|make|define|draft|build|add|write|set up|crée[rz]?|ajoute[rz]?|erstelle?|baue?|создай|сделай|добавь|创建|新建)\s*(?:me\s+)?(?:(?:an?|the|new|another|une?|le|einen|den)\s+(?:[\w-]+\s+){0,4}?|нового\s+|\p{Script=Han}*?)(?:sub-?|sous-|суб)?(?:agent(?:s|en)?|агента|代理|智能体)(?![\p{L}\p{N}_./-])/iu;

export const createAgent: Route = (job) => {
  // "create an agent.ts with …" is about a file.
  if (!job.main || !ASKED.test(job.text) || /\bagents?\.\w+\b/.test(job.text.split('\n')[0]!)) return undefined;
  return writeDefinition(job);
};

function* writeDefinition(job: Job): Work<string> {
  const fields = JSON.parse(draftDefinition(job.text)) as {readonly name: string};
  const path = `.mini-cc/agents/${fields.name}.json`;
  const text = `${JSON.stringify({$schema: '../agent.schema.json', version: FORMAT_VERSION, ...fields}, undefined, 2)}\n`;
  const hint = 'Give the agent another name: create an agent called NAME that …';
  const problem = yield* writeNew(path, text, hint, job);
  if (problem !== '') return problem;
  return paragraphs(
    `Created the agent ${fields.name} in ${path}, drafted by rules. Read its prompt and make it better:`,
    fenced(text.trimEnd(), 'json'),
    `Use it by "Task(${fields.name}): …".`,
  );
}
