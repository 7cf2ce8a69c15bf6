/**
 * Records the requests of trials to their models and the replies, and replays the replies without any server. A replay
 * shows whether the definition, its tools, the prompt or a result of a tool has changed. It measures no quality.
 *
 * A recording is one JSON file a trial, for people to read and commit. Paths of the machine are placeholders in it.
 */
import {existsSync, realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {z} from 'zod';
import type {Message, Model, ModelReply, ModelRequest, ToolSpec} from '../core/contract/model.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../core/util/errors.ts';
import {writeBelow} from '../core/util/files/whole-file.ts';
import {getText} from '../core/util/messages.ts';
import {mapTexts} from '../core/util/objects.ts';
import {formatJson, toShortLine} from '../core/util/text.ts';
import {MAX_BYTES, readOwn} from './case-file.ts';
import {type Replay, SAME, type TrialRecord} from './contract.ts';
import {toFileName} from './kept-trials.ts';
import {type Arm, KEPT_OUTCOMES, type Tape, type TapedModel, type TapedTrial, type TestedAgent} from './run-tests.ts';
import type {TrialFolder} from './workspaces.ts';

interface TapeDeps {
  /** Folder of the recordings, as the user wrote it. */
  readonly folder: string;
  /** The real workspace. */
  readonly root: string;
  /** mini-cc's own folder. */
  readonly home: string;
  /** Masks the values of known keys. */
  redact<T>(value: T): T;
  warn(text: string): void;
}

const block = z.union([
  z.object({type: z.literal('text'), text: z.string()}).loose(),
  z.object({type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown()}).loose(),
  z.object({type: z.string().regex(/^(?!(?:text|tool_use)$)/)}).loose(),
]);
const count = z.int().min(0);
const usageSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  })
  .loose();
const turnSchema = z.object({
  /** Lines. Absent when it is that of the turn before, as are the tools. */
  system: z.array(z.string()).optional(),
  tools: z.array(z.looseObject({name: z.string()})).optional(),
  /** How many messages of the turn before stand before those of this turn. */
  after: count,
  messages: z.array(
    z.object({role: z.enum(['user', 'assistant']), content: z.union([z.string(), z.array(z.looseObject({}))])}).loose(),
  ),
  reply: z.looseObject({
    id: z.string(),
    content: z.array(block),
    stopReason: z.string().nullable(),
    usage: usageSchema,
    model: z.string(),
    garbledInputs: z.array(z.tuple([z.string(), z.string()])),
  }),
});
const recordingSchema = z.object({
  version: z.literal(1),
  agent: z.string(),
  case: z.union([z.string(), z.int()]),
  trial: z.int().min(1),
  /** How many trials of the case were recorded. */
  trials: z.int().min(1),
  model: z.object({
    name: z.string(),
    offline: z.boolean(),
    maxOutputTokens: z.int().min(1),
    contextWindow: z.int().min(1).optional(),
  }),
  turns: z.array(turnSchema),
});
type Recording = z.infer<typeof recordingSchema>;

/** The part of a request that is compared. */
interface Sent {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
}

/** The server decides whether the tool exists, and a replay has no server. */
const OF_SERVER = 'web_search';

function getSent({system, tools, messages}: ModelRequest): Sent {
  const sent = {system, tools: tools.filter(({name}) => name !== OF_SERVER), messages};
  return JSON.parse(JSON.stringify(sent)) as Sent;
}

/** Most requests begin with the one before and its reply. */
function addReply(sent: Sent, content: unknown): Sent {
  return {...sent, messages: [...sent.messages, {role: 'assistant', content} as Message]};
}

function getName({target, arm, evalCase}: TapedTrial, trial: number): string {
  const place = arm === target.arms[0] ? 'agent' : 'baseline';
  return path.join(toFileName(target.agent), place, `${toFileName(evalCase.id)}-${trial}.json`);
}

/** Puts placeholders for the paths of this machine, and paths for placeholders. */
class Places {
  readonly #places: readonly (readonly [place: string, name: string])[];

  constructor({top, base}: TrialFolder, {root, home}: TapeDeps) {
    const all = [
      [top, '{{workspace}}'],
      [base.repository?.top ?? root, '{{project}}'],
      [home, '{{mini-cc}}'],
      [homedir(), '{{home}}'],
    ] as const;
    this.#places = all.filter(([place]) => place !== '/').toSorted(([a], [b]) => b.length - a.length);
  }

  hide<T>(value: T): T {
    return mapTexts(value, (text) =>
      this.#places.reduce((done, [place, name]) => {
        const whole = new RegExp(`(?<![\\w.-])${place.replaceAll(/\W/g, '\\$&')}(?![\\w-])`, 'g');
        return done.includes(place) ? done.replaceAll(whole, name) : done;
      }, text),
    );
  }

  show<T>(value: T): T {
    return mapTexts(value, (text) =>
      this.#places.reduce((done, [place, name]) => done.replaceAll(name, () => place), text),
    );
  }
}

export class Recorder implements Tape {
  readonly isReplay = false;
  #trials = 1;

  constructor(private readonly deps: TapeDeps) {}

  async prepare(targets: readonly TestedAgent[], trials = 1) {
    this.#trials = trials;
    return {targets, trials};
  }

  start(trial: TapedTrial, getFolder: () => TrialFolder): TapedModel {
    const {redact} = this.deps;
    const {model} = trial.arm;
    const turns: Recording['turns'] = [];
    let before: Sent | undefined;
    const reply: Model['reply'] = async (request, onProgress) => {
      const places = new Places(getFolder(), this.deps);
      const {garbledInputs, ...rest} = await model.reply(request, onProgress);
      const [sent, kept] = places.hide(
        redact([getSent(request), {...rest, garbledInputs: [...garbledInputs]}] as const),
      );
      const {system, tools, messages} = sent;
      const shared = messages.findIndex((message, index) => !isDeepStrictEqual(message, before?.messages[index]));
      const after = shared < 0 ? messages.length : shared;
      turns.push({
        ...(system !== before?.system && {system: system.split('\n')}),
        ...(!isDeepStrictEqual(tools, before?.tools) && {tools: tools as unknown as Recording['turns'][0]['tools']}),
        after,
        messages: messages.slice(after) as unknown as Recording['turns'][0]['messages'],
        reply: kept as never,
      });
      before = addReply(sent, kept.content);
      return {garbledInputs, ...rest};
    };
    const end = async ({outcome}: TrialRecord) => {
      const problem = KEPT_OUTCOMES.has(outcome)
        ? await this.#write(trial, turns).catch((error: unknown) => getErrorMessage(error))
        : `it ended with ${outcome}`;
      const name = `${trial.target.agent} ${trial.evalCase.id}, trial ${trial.trial}`;
      if (problem !== undefined) this.deps.warn(`${name} is not recorded: ${problem}`);
      return undefined;
    };
    return {model: withReply(model, reply), end};
  }

  /** @returns why it was not written */
  async #write(of: TapedTrial, turns: Recording['turns']): Promise<string | undefined> {
    const {target, arm, evalCase, trial} = of;
    const {name, offline, maxOutputTokens} = arm.model;
    const contextWindow = await arm.model.contextWindow(false);
    const recording: Recording = {
      version: 1,
      agent: target.agent,
      case: evalCase.id,
      trial,
      trials: this.#trials,
      model: {name, offline, maxOutputTokens, contextWindow},
      turns,
    };
    const text = `${formatJson(recording)}\n`;
    if (Buffer.byteLength(text) > MAX_BYTES)
      return `it is larger than the ${MAX_BYTES / 2 ** 20} MB that --replay reads`;
    await writeBelow(this.deps.folder, [{name: getName(of, trial), text}]);
    return undefined;
  }
}

/** Returns the model with other replies. Its methods need the model itself, since they use private fields. */
function withReply(model: Model, reply: Model['reply']): Model {
  return new Proxy(model, {
    get(target, key) {
      if (key === 'reply') return reply;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export class Replayer implements Tape {
  readonly isReplay = true;
  readonly #recordings = new Map<string, Recording>();

  constructor(private readonly deps: TapeDeps) {}

  async prepare(targets: readonly TestedAgent[], asked: number | undefined) {
    const {folder} = this.deps;
    if (!existsSync(folder)) throw new UsageError(`--replay: the folder ${folder} does not exist`);
    const [target] = targets;
    const [evalCase] = target?.set.cases ?? [];
    const first = target && evalCase && this.#read({target, arm: target.arms[0], evalCase, trial: 1});
    const trials = asked ?? first?.trials ?? 1;
    const played = targets.map((each) => {
      const [own, baseline] = each.arms;
      const play = (arm: Arm): Arm => {
        const read = each.set.cases.flatMap((one) =>
          Array.from({length: trials}, (_, index) => this.#read({target: each, arm, evalCase: one, trial: index + 1})),
        );
        return {...arm, model: createSilentModel(read[0]!)};
      };
      const arms: TestedAgent['arms'] = baseline ? [play(own), play(baseline)] : [play(own)];
      return {...each, arms};
    });
    return {targets: played, trials};
  }

  /** @throws UsageError when the recording is missing, is not one of this trial, or cannot be read */
  #read(of: TapedTrial): Recording {
    const name = getName(of, of.trial);
    const known = this.#recordings.get(name);
    if (known) return known;
    const say = (problem: string) => new UsageError(`--replay: ${path.join(this.deps.folder, name)}: ${problem}`);
    const recording = parseRecording(() => readOwn(realpathSync(this.deps.folder), name), say);
    const {agent, case: id, trial} = recording;
    if (agent !== of.target.agent || String(id) !== String(of.evalCase.id) || trial !== of.trial)
      throw say(`it is of ${agent}, case ${id}, trial ${trial}. Record anew with --record`);
    this.#recordings.set(name, recording);
    return recording;
  }

  start(trial: TapedTrial, getFolder: () => TrialFolder): TapedModel {
    const recording = this.#read(trial);
    const player = new Player(
      recording,
      (sent) => this.deps.redact(sent),
      () => new Places(getFolder(), this.deps),
    );
    const model = withReply(trial.arm.model, (request, onProgress) => player.reply(request, onProgress));
    return {model, end: async (record) => player.end(record)};
  }
}

function parseRecording(read: () => Buffer, say: (problem: string) => UsageError): Recording {
  let value: unknown;
  try {
    value = JSON.parse(read().toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw say(`it is no JSON (${error.message}). Record anew with --record`);
    throw say(`${getErrorMessage(error).replace(/^"[^"]*" /, 'it ')}. Make it with --record`);
  }
  const {success, data, error} = recordingSchema.safeParse(value);
  if (success) return data;
  const {path: keys, message} = error.issues[0]!;
  throw say(`it is no recording (${keys.join('.') || 'the whole'}: ${message}). Record anew with --record`);
}

/** Returns the model of a replay, without its replies. It costs nothing. */
function createSilentModel({model: {name, offline, maxOutputTokens, contextWindow}}: Recording): Model {
  return {
    name,
    offline,
    local: false,
    maxOutputTokens,
    inputPrice: 0,
    outputPrice: 0,
    contextWindow: async () => contextWindow,
    reply: async () => Promise.reject(new MiniCcError('REPLAY', 'a replay asks no model')),
  };
}

/** Plays the replies of one recording, as long as the requests are the recorded ones. */
class Player {
  #at = 0;
  #before: Sent = {system: '', tools: [], messages: []};
  #found: Replay | undefined;
  /** Ids that mini-cc made in this replay, by the ids in the recording. */
  readonly #ids = new Map<string, string>();

  constructor(
    private readonly recording: Recording,
    private readonly redact: (sent: Sent) => Sent,
    private readonly getPlaces: () => Places,
  ) {}

  async reply(request: ModelRequest, onProgress: Parameters<Model['reply']>[1]): Promise<ModelReply> {
    const places = this.getPlaces();
    const turn = this.recording.turns[this.#at];
    if (!turn) throw this.#differs({what: 'the recording ends before it'});
    const {system, tools, after, messages, reply} = turn;
    const recorded: Sent = {
      system: system?.join('\n') ?? this.#before.system,
      tools: (tools as unknown as readonly ToolSpec[] | undefined) ?? this.#before.tools,
      messages: [...this.#before.messages.slice(0, after), ...(messages as unknown as readonly Message[])],
    };
    const now = places.hide(this.redact(getSent(request)));
    const difference = findDifference(recorded, now);
    if (difference) throw this.#differs(difference);
    this.#before = addReply(recorded, reply.content);
    this.#at += 1;
    this.#learnIds(JSON.stringify(recorded.messages), JSON.stringify(now.messages));
    const shown = places.show(mapTexts(reply, (text) => text.replaceAll(ID, (id) => this.#ids.get(id) ?? id)));
    for (const {type, text} of shown.content) if (type === 'text') onProgress({type: 'text', text: String(text)});
    const {cost_unknown: _, cost_estimated: _e, ...usage} = shown.usage;
    const paid = {...shown, usage: {...usage, cost_usd: 0}, garbledInputs: new Map(shown.garbledInputs)};
    return paid as unknown as ModelReply;
  }

  end({outcome, reason}: TrialRecord): Replay {
    if (outcome === 'not run') this.#differs({what: `the trial was not run: ${reason}`});
    else if (this.#at < this.recording.turns.length) this.#differs({what: 'the run ended before it'});
    return this.#found ?? {verdict: SAME};
  }

  /** Keeps the first difference. */
  #differs({what, ...lines}: Difference): MiniCcError {
    this.#found ??= {verdict: `differs at turn ${this.#at + 1}: ${what}`, ...lines};
    return new MiniCcError('REPLAY', `the replay ${this.#found.verdict}`);
  }

  /**
   * Maps ids of the recording to ids of this replay. Later recorded replies may contain such ids, e.g. in the path of a
   * long output.
   */
  #learnIds(recorded: string, now: string): void {
    const own = now.match(ID) ?? [];
    for (const [index, id] of (recorded.match(ID) ?? []).entries()) this.#ids.set(id, own[index] ?? id);
  }
}

/** An id that mini-cc makes for a session, a run or a temporary folder. */
const ID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bmini-cc-[A-Za-z0-9]{6}\b/g;

/** Tools whose results have times that differ by themselves. */
const COMMANDS = new Set(['bash']);
const TIMES = new RegExp(
  [
    String.raw`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?`,
    String.raw`(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d (?:\d\d:\d\d(?::\d\d)?| ?\d{4})(?: \d{4})?`,
    String.raw`\d\d:\d\d:\d\d(?:\.\d+)?`,
    String.raw`\d+(?:\.\d+)? ?(?:ns|µs|ms|s|sec|secs|seconds?|m|min|minutes?)`,
  ]
    .map((each) => String.raw`\b${each}\b`)
    .join('|'),
  'g',
);

/** The lines of a system prompt that differ by themselves between two days or machines. */
const PLACE_LINES = /^(?:Platform: .*|Git branch: .*|No git repository\.)$/gm;

interface Difference extends Omit<Replay, 'verdict'> {
  readonly what: string;
}

function findDifference(recorded: Sent, now: Sent): Difference | undefined {
  const system = [recorded, now].map((each) => each.system.replaceAll(PLACE_LINES, ''));
  if (system[0] !== system[1]) return {what: 'the system prompt changed', ...findLines(system[0]!, system[1]!)};
  if (!isDeepStrictEqual(recorded.tools, now.tools))
    return {what: 'the tools changed', ...compareTools(recorded.tools, now.tools)};
  const names = new Map<unknown, string>();
  for (let index = 0; index < Math.max(recorded.messages.length, now.messages.length); index += 1) {
    const [before, after] = [toBlocks(recorded.messages[index]), toBlocks(now.messages[index])];
    for (const {type, id, name} of after) if (type === 'tool_use') names.set(id, String(name));
    for (let at = 0; at < Math.max(before.length, after.length); at += 1) {
      const [old, own] = [before[at] ?? {}, after[at] ?? {}];
      const tool = names.get(own.tool_use_id) ?? names.get(old.tool_use_id);
      const [a, b] = [old, own].map((each) => withoutTimes(each, tool)) as [Block, Block];
      if (isDeepStrictEqual(a, b)) continue;
      const what = tool !== undefined ? `the result of ${tool}` : index === 0 ? 'the prompt' : 'the messages';
      return {what: `${what} changed`, ...findLines(toText(a), toText(b))};
    }
  }
  return undefined;
}

type Block = Readonly<Record<string, unknown>>;

function toBlocks(message: Message | undefined): readonly Block[] {
  if (!message) return [];
  const {content} = message;
  return typeof content === 'string' ? [{type: 'text', text: content}] : (content as unknown as readonly Block[]);
}

function withoutTimes({cache_control: _, ...rest}: Block, tool: string | undefined): Block {
  return mapTexts(rest, (text) => {
    const plain = text.replaceAll(ID, 'ID');
    return tool !== undefined && COMMANDS.has(tool) ? plain.replaceAll(TIMES, 'TIME') : plain;
  });
}

function toText(value: Block): string {
  if (typeof value.text === 'string') return value.text;
  return value.content === undefined ? JSON.stringify(value) : getText(value.content as Parameters<typeof getText>[0]);
}

function compareTools(recorded: readonly ToolSpec[], now: readonly ToolSpec[]) {
  const names = [recorded, now].map((tools) => tools.map(({name}) => name).join(', '));
  if (names[0] !== names[1]) return findLines(names[0]!, names[1]!);
  return findLines(JSON.stringify(recorded, null, 1), JSON.stringify(now, null, 1));
}

/** Finds the first line that differs. */
function findLines(recorded: string, now: string): Pick<Replay, 'recorded' | 'now'> {
  const [before, after] = [recorded.split('\n'), now.split('\n')];
  const at = before.findIndex((line, index) => line !== after[index]);
  const index = at < 0 ? before.length : at;
  const show = (line: string | undefined) =>
    line === undefined ? '(nothing)' : toShortLine(line, 200) || '(an empty line)';
  return {recorded: show(before[index]), now: show(after[index])};
}
