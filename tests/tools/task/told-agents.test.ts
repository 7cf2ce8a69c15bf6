/** What the main model is told of many agents, and how it finds the others. */
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {home as createHome, isSubagent, project, serve} from '../../e2e/fixture.ts';
import type {MessagesBody} from '../../support/messages-server.ts';
import {runCli} from '../../support/run-cli.ts';
import {callTool, say} from '../../support/scripted-replies.ts';

const MAX_BYTES = 4 * 2_000;

/** Bytes of the request that are there because of these agents. */
const countBytes = (body: MessagesBody, bare: MessagesBody) =>
  JSON.stringify([body.system, body.tools]).length - JSON.stringify([bare.system, bare.tools]).length;

async function ask(count: number, words: number, turns: Parameters<typeof serve>[0] = [say('done')]) {
  const [{path: cwd}, home] = [await project(), await createHome()];
  const folder = path.join(home.path, '.claude/agents');
  mkdirSync(folder, {recursive: true});
  for (let number = 1; number <= count; number++) {
    const topic = number === count ? 'Mends barometers' : `Works on topic ${number}`;
    const description = `${topic}. ${'Use it proactively when this matters. '.repeat(words)}`;
    const name = `topic-specialist-${number}`;
    writeFileSync(path.join(folder, `${name}.md`), `---\nname: ${name}\ndescription: ${description}\n---\nYou work.`);
  }
  const server = await serve(turns);
  const run = await runCli(['-p', 'go'], {server, cwd, home});
  expect(run.code).toBe(0);
  return server.requests.map(({body}) => body);
}

function readTask(body: MessagesBody) {
  const task = body.tools!.find(({name}) => name === 'Task')!;
  const {properties} = task.input_schema as {properties: {agent_type: {enum: string[]}}};
  return {description: task.description, names: properties.agent_type.enum};
}

test('many agents take at most 2,000 tokens: shortened descriptions, then names, then how many more there are', async () => {
  const [bare] = await ask(0, 0);
  const [few] = await ask(4, 3);
  expect(readTask(few!).description).toContain(
    `- topic-specialist-4: Mends barometers. ${'Use it proactively when this matters. '.repeat(3).trim()}\n`.trim(),
  );
  const [shortened] = await ask(40, 20);
  expect(readTask(shortened!).description).toMatch(/- topic-specialist-40: Mends barometers\. Use it .*…/);
  expect(shortened!.tools!.map(({name}) => name)).not.toContain('tool_search');
  const [many] = await ask(202, 10);
  expect(readTask(many!).names).toContain('topic-specialist-202');
  const [most] = await ask(600, 10);
  expect(readTask(most!).description).toMatch(/\n\d+ more: tool_search finds them/);
  for (const body of [few, shortened, many, most]) expect(countBytes(body!, bare!)).toBeLessThan(MAX_BYTES);
});

test('tool_search finds an agent that is not told, and Task takes its name', async () => {
  const task = {description: 'mend', prompt: 'mend it', agent_type: 'topic-specialist-600'};
  const bodies = await ask(600, 10, (body) => {
    if (isSubagent(body)) return say('mended');
    const steps = body.messages.filter(({role}) => role === 'assistant').length;
    return [callTool('tool_search', {query: 'barometers'}), callTool('Task', task)][steps] ?? say('done');
  });
  expect(readTask(bodies[0]!).names).not.toContain('topic-specialist-600');
  expect(JSON.stringify(bodies[1]!.messages)).toContain('- topic-specialist-600: Mends barometers.');
  expect(JSON.stringify(bodies.at(-1)!.messages)).toContain('mended');
});
