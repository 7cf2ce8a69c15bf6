// One run with a tool of your own, without a manager. The model here is a scripted one, as in a test; leave `model` out,
// or give the name of one, for a real model.
// Run: node examples/07-run-agent.mjs
import {createAgentRun, runAgent} from 'mini-cc';
import {copySample} from './sample.mjs';

const weather = {
  name: 'weather',
  description: 'The weather in a city.',
  inputSchema: {type: 'object', properties: {city: {type: 'string'}}, required: ['city']},
  run: async ({city}) => `It is sunny in ${city}.`,
};

const model = {
  name: 'scripted',
  reply: ({messages}) => {
    if (messages.length === 1) {
      return {content: [{type: 'tool_use', id: 'call-1', name: 'weather', input: {city: 'Lisbon'}}]};
    }
    const [result] = messages.at(-1).content;
    return `The tool says: ${result.content}`;
  },
};

const run = await createAgentRun({
  cwd: await copySample(),
  prompt: 'How is the weather in Lisbon?',
  tools: ['read_file', weather],
  model,
  maxTurns: 5,
});

const result = await runAgent(run);
console.log(result.outcome, `after ${result.turns} model calls`);
console.log(result.text);

await run.close();
