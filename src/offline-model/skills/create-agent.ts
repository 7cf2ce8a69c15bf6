/** Handles "create an agent that …": drafts a definition and writes it to the folder of the project's agents. */
import {cannot, fenced, getProblem, notDone, paragraphs} from '../report.ts';
import {askOne, type Job, type Route, type Work} from '../skill.ts';
import {draftDefinition} from './draft.ts';

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
  const call = job.toolbox.write(path, text);
  if (!call) return cannot('I have no write_file tool here, so I cannot save an agent.');
  const result = yield* askOne(call);
  if (result.outcome === 'missing') return notDone(`I did not write ${path}: no more calls were allowed.`);
  if (result.outcome !== 'ok')
    return /read_file it first|not read|exists/i.test(result.text)
      ? notDone(
          `${path} exists already and was not changed. Give the agent another name: create an agent called NAME that …`,
        )
      : notDone(`${path} was not written: ${getProblem(result)}.`);
  return paragraphs(
    `Created the agent ${fields.name} in ${path}, drafted by rules. Read its prompt and make it better:`,
    fenced(text.trimEnd(), 'json'),
    `Use it by "Task(${fields.name}): …".`,
  );
}
