/**
 * Computes what the subagents of a session brought from their transcripts alone, with no code of mini-cc:
 * `node delegation-figures.mjs FOLDER PRICES`. FOLDER is that of the session. PRICES is JSON with dollars for a million tokens.
 */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';

const [folder = '', prices = '{}'] = process.argv.slice(2);
const {input, output, cacheRead, cacheWrite} = JSON.parse(prices);
const runs = readdirSync(path.join(folder, 'subagents'), {recursive: true, encoding: 'utf8'})
  .filter((name) => path.basename(name).startsWith('session.jsonl'))
  .map((name) =>
    readFileSync(path.join(folder, 'subagents', name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  );

let [tokensRead, tokensReturned, cost] = [0, 0, 0];
const times = [];
for (const lines of runs) {
  const replies = lines.filter(({type, message}) => type === 'message' && message.role === 'assistant');
  for (const {usage} of replies) {
    const [read = 0, written = 0] = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
    tokensRead += usage.input_tokens + read + written;
    cost += usage.input_tokens * input + read * cacheRead + written * cacheWrite + usage.output_tokens * output;
  }
  const end = lines.findLast(({type}) => type === 'end');
  const last = replies.at(-1);
  // The text of a run came back when it is that of the last reply.
  const text = last?.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  if (text && end.text === text) tokensReturned += last.usage.output_tokens;
  const began = lines.findLast(({type}) => type === 'began') ?? lines[0];
  times.push([Date.parse(began.at), Date.parse(end.at)]);
}

times.sort(([a], [b]) => a - b);
let [wall, until] = [0, 0];
for (const [from, to] of times) {
  wall += Math.max(0, to - Math.max(from, until));
  until = Math.max(until, to);
}
const sum = times.reduce((all, [from, to]) => all + to - from, 0);
process.stdout.write(
  JSON.stringify({
    runs: runs.length,
    wall_ms: wall,
    sum_ms: sum,
    tokens_read: tokensRead,
    tokens_returned: tokensReturned,
    cost: cost / 1_000_000,
  }),
);
