/** Going on with a session whose transcript is large: as long sessions are, it was compacted now and then. */
import {closeSync, openSync, readFileSync, statSync, writeSync} from 'node:fs';
import path from 'node:path';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {History} from '../../src/core/turn/history.ts';
import {NO_USAGE} from '../../src/core/util/messages.ts';
import {SessionStore} from '../../src/storage/sessions/session-store.ts';
import {say} from '../../tests/support/scripted-replies.ts';
import {measureRun} from '../compared/measures.ts';
import type {ModelServer} from '../compared/model-server.ts';
import {createProgram, type Program} from '../compared/programs.ts';
import {Screen} from '../compared/screen.ts';
import {listProcessesOf, readUsage} from '../process-tree.ts';
import type {Curve, Point, ScaleOptions} from './curve.ts';

const MEGABYTES = [1, 10, 200, 1000];
/** Turns between two compactions, each with a result of 4 KB. */
const TURNS = 100;
const INPUT_TOKENS = 10;

export async function measureResume(server: ModelServer, {short, onProgress}: ScaleOptions): Promise<readonly Curve[]> {
  const [times, memory]: [Point[], Point[]] = [[], []];
  for (const megabytes of short ? MEGABYTES.slice(0, 3) : MEGABYTES) {
    onProgress(`a transcript of ${megabytes} MB`);
    const program = createProgram('mini-cc', server.url);
    server.play(() => say('Done.'));
    try {
      writeTranscript(program, megabytes);
      // Warms the caches, and shows that the conversation goes on.
      await measureRun({...program.print('go on'), args: [...program.print('go on').args, '--continue']}, 600_000);
      const screen = new Screen({...program.interactive, args: [...program.interactive.args, '--continue']});
      try {
        await screen.waitFor(/^\W*Done\.[\s\S]*^> /m, 300_000);
        times.push({of: megabytes, value: performance.now() - screen.startedAt});
        memory.push({of: megabytes, value: readUsage(listProcessesOf(program.home)).peakMb});
      } finally {
        await screen.close();
      }
    } finally {
      program.remove();
    }
  }
  const per = 'MB of transcript';
  return [
    {what: 'resume to the prompt', per, unit: 'ms', points: times},
    {what: 'most memory of a resume', per, unit: 'MB', points: memory},
  ];
}

/** Lets mini-cc write the part up to one compaction, and appends copies of this part with other ids. */
export function writeTranscript({home, cwd}: Program, megabytes: number): void {
  const store = new SessionStore(path.join(home, '.mini-cc'), cwd, new Redactor([]));
  const {journal, transcript, close} = store.openSession('long');
  const history = new History(journal);
  for (let turn = 0; turn < TURNS; turn += 1) {
    history.appendPrompt(`prompt ${turn}`);
    const call = {type: 'tool_use' as const, id: `toolu_${turn}_STRETCH`, name: 'read_file', input: {path: 'a.ts'}};
    history.appendReply([{type: 'text', text: 'I look.'}, call] as never, {
      ...{model: 'claude-sonnet-5-5', asked: 'claude-sonnet-5-5', stopReason: 'tool_use'},
      usage: {...NO_USAGE, input_tokens: INPUT_TOKENS},
    });
    const content = `${turn} a line of a file with some code in it\n`.repeat(100);
    history.append({role: 'user', content: [{type: 'tool_result', tool_use_id: call.id, content}]});
    history.append({role: 'assistant', content: [{type: 'text', text: `Answer ${turn}.`}]});
  }
  const summary = {message: {role: 'user' as const, content: 'A summary of what was before.'}};
  history.replace(0, history.messages.length, [summary], 'compacted');
  close();
  const file = readFileSync(transcript, 'utf8');
  const text = file.slice(file.indexOf('\n') + 1);
  const ids = [...new Set([...text.matchAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g)].flat())];
  const parts = text.split(new RegExp(ids.join('|'), 'g'));
  const order = [...text.matchAll(new RegExp(ids.join('|'), 'g'))].map(([id]) => id);
  const [, from = ''] = /"type":"replace".*?"from":"([^"]+)"/.exec(text) ?? [];
  const [, summaryId = ''] = /"by":\[\{"uuid":"([^"]+)"/.exec(text) ?? [];
  const fd = openSync(transcript, 'a');
  for (let number = 1; statSync(transcript).size < megabytes * 1e6; number += 1) {
    const rename = (id: string, by: number) => (by === 0 ? id : `${by.toString(16).padStart(8, '0')}${id.slice(8)}`);
    const stretch = parts.map((part, index) => part + (order[index] ? rename(order[index], number) : '')).join('');
    // The copy begins with the summary of the copy before it, which its compaction replaces, too.
    const before = rename(summaryId, number - 1);
    const next = stretch.replace(`"from":"${rename(from, number)}"`, `"from":"${before}"`);
    // Its compaction has the totals of all stretches before.
    const tokens = (stretches: number) => `"input_tokens":${stretches * TURNS * INPUT_TOKENS}`;
    writeSync(fd, next.replace(tokens(1), tokens(number + 1)));
  }
  closeSync(fd);
}
