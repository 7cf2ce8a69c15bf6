/** Handles "create an agent that …": drafts a definition from its description, as plain JSON, and writes it. */

import {toFields} from '../../core/util/objects.ts';
import {fenced, paragraphs} from '../report.ts';
import type {Job, Route, Work} from '../skill.ts';
import {findKeywords, findQuoted} from '../words.ts';
import {writeNew} from './create.ts';

const NAMES: readonly (readonly [RegExp, string, string])[] = [
  [
    /\bsecurity|vulnerab|безопасност|sécurité|安全/iu,
    'security-reviewer',
    'Look for injection, unsafe input, leaked secrets, missing checks of permissions, and dangerous calls.',
  ],
  [
    /\breview|audit\b|critique|ревью|проверк[аи] кода|revue|relire|审查|评审/iu,
    'reviewer',
    'Look for bugs, unclear names, missing error handling, duplicated code and missing tests.',
  ],
  [
    /\b(?:unit )?test(?:s|er|ing)?\b|тест|测试/iu,
    'tester',
    'Find what is not tested, write or run the tests that matter, and report how each ended.',
  ],
  [
    /\bdebug|bug ?(?:fix|hunt)|отлад|débog|调试/iu,
    'debugger',
    'Reproduce the failure first, narrow it down to its cause, and explain the cause before any change.',
  ],
  [
    /\brefactor|clean ?up|рефактор|重构/iu,
    'refactorer',
    'Keep the behaviour; make names, structure and duplication better in small steps.',
  ],
  [
    /\bdoc(?:s|umentation)?\b|readme|jsdoc|документац|文档/iu,
    'documenter',
    'Read the code before you describe it; write short, plain sentences with examples that work.',
  ],
  [
    /\bperform|optimi[sz]|profil|производительност|性能/iu,
    'optimizer',
    'Measure before and after; change only what the measurements show to be slow.',
  ],
  [
    /\bmigrat|upgrade|port(?:ing)?\b|миграц|迁移/iu,
    'migrator',
    'Migrate in small steps that each keep the project working, and list what is left.',
  ],
];

const READ_ONLY =
  /read[- ]?only|without (?:changing|modifying|editing|writing)|(?:never|not|no) (?:change|modify|edit|write)|only (?:read|report|look)|lecture seule|только (?:чтение|читать)|只读/iu;
const READING = ['bash', 'read_file', 'grep', 'glob'];
const WRITES =
  /\b(?:write|edit|fix|creat|implement|modif|chang|refactor|generat|add|updat|migrat)\w*|исправ|пис|修改|编写|重构/iu;

/** Returns whether the answer must be an agent definition. */
export function asksForDefinition(answerSchema: Readonly<Record<string, unknown>> | undefined): boolean {
  const fields = toFields(answerSchema?.properties);
  return ['name', 'description', 'tools', 'prompt'].every((field) => Object.hasOwn(fields, field));
}

export function draftDefinition(request: string): string {
  const description = getDescription(request);
  const known = NAMES.find(([form]) => form.test(description));
  const quoted = findQuoted(description).find((one) => /^[a-z][a-z0-9-]{0,63}$/.test(one));
  const called = /\b(?:called|named)\s+[`"']?([a-z][a-z0-9-]{1,63})\b/i.exec(description)?.[1]?.toLowerCase();
  const readOnly =
    READ_ONLY.test(description) ||
    (known !== undefined && /review/.test(known[1]) && !/\bfix|\bedit/i.test(description));
  const tools = readOnly
    ? READING
    : WRITES.test(description) || /test|debug|refactor|document|optimi|migrat/.test(known?.[1] ?? '')
      ? '*'
      : READING;
  const subject = description.replace(/^(?:an?|the|my|un|une)\s+/i, '').replace(/[\s.]+$/, '');
  const prompt = [
    `You are ${/^(?:an?|the)\s/i.test(description) ? '' : 'an agent for this: '}${description.replace(/[\s.]+$/, '')}.`,
    known?.[2] ?? 'Keep to this purpose, and read the files before you judge or act.',
    'Start from what you were asked, look at the files themselves, and do not guess names, paths or results.',
    readOnly || tools !== '*'
      ? 'Never modify files; only report what you find.'
      : 'Make the smallest change that does the job, then run what checks it and say how it ended.',
    'Report briefly: the result first, then each finding with path:line, and what you could not check.',
  ].join(' ');
  return JSON.stringify(
    {name: called ?? quoted ?? known?.[1] ?? kebab(subject), description: sentence(subject), tools, prompt},
    null,
    2,
  );
}

/** Returns the user's description of the agent, without the instructions around it. */
function getDescription(request: string): string {
  const marked = /<description>([\s\S]*?)<\/description>/.exec(request)?.[1] ?? request;
  const plain = marked.trim().replace(/\s*\n\s*/g, ' ');
  return (
    plain
      .replace(
        /^\s*(?:please\s+)?(?:create|make|draft|write|define|build|add|i (?:want|need))\s+(?:me\s+)?(?=(?:an?|the)\s)/i,
        '',
      )
      .replace(/^["'`]([^"'`]*)["'`]$/, '$1')
      .slice(0, 400)
      .trim() || 'a helper for this project'
  );
}

function kebab(text: string): string {
  const words = findKeywords(text)
    .filter((word) => !/^(?:agent|subagent|assistant|expert|helper|access)s?$/i.test(word))
    .map((word) =>
      word
        .replace(/([a-z])([A-Z])/g, '$1-$2')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^[-\d]+|-+$/g, ''),
    )
    .filter((word) => word !== '');
  return words.slice(0, 3).join('-').slice(0, 64).replace(/-+$/, '') || 'helper';
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`.slice(0, 200);
}

/** Version of the format of agent definitions. Its schema is not imported, because that would load zod. */
const FORMAT_VERSION = 1;

const ASKED =
  /^(?:(?:create|make|define|draft|build|add|write|set up)\s+(?:me\s+)?(?:an?|the|new|another)(?:\s+new)?\s+(?:[\w-]+\s+){0,4}?(?:sub-?)?agents?\b|(?:crée[rz]?|créer|définis|ajoute[rz]?)\s+(?:un|le)\s+(?:nouvel\s+)?(?:sous-)?agents?\b|(?:erstelle?|definiere?|baue?|mache?)\s+(?:einen|den)\s+(?:neuen\s+)?(?:sub-?)?agent(?:en)?(?![\p{L}])|(?:создай|сделай|добавь)\s+(?:нового\s+)?(?:суб)?агента|(?:创建|新建|制作|定义)\s*(?:一个)?.{0,40}?(?:代理|智能体|agent))/iu;

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
