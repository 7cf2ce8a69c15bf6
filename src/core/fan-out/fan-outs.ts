/**
 * Plans and runs the fan-outs of a session. A prompt, a command, the main model or a program asks for one. The steps
 * are:
 *
 * 1. `consider` or `request` finds the files and splits them, and a person sees the preview, if one can be asked;
 * 2. the checks of the project run once, if verification is on;
 * 3. the parts run side by side through the pool, each with its own files;
 * 4. one run makes the changes that they need elsewhere, in order;
 * 5. the checks run again, and new failures go back to the runs that caused them;
 * 6. the runtime counts and writes the summary.
 *
 * Each step is in the journal, so that a fan-out that was cut off can continue. The modules that read prompts are
 * loaded late, because parsing the patterns of four languages takes a quarter of the time in which Node.js starts.
 */
import {randomUUID} from 'node:crypto';
import type {AgentCatalog, AgentDefinition} from '../agent-types.ts';
import type {Emit, PermissionMode} from '../contract/events.ts';
import type {
  FanOutName,
  FanOutPart,
  FanOutReport,
  FanOutRequest,
  PlannedEdit,
  StoredFanOut,
  SubagentResults,
} from '../contract/fan-out.ts';
import type {Clock} from '../contract/results.ts';
import type {RestoredFiles} from '../contract/session-requests.ts';
import type {Questions} from '../permissions/questions.ts';
import {formatDuration} from '../runs/progress-line.ts';
import type {Caller} from '../tool-calls.ts';
import {UsageError} from '../util/errors.ts';
import {formatCount, formatLimit, formatTokens} from '../util/text.ts';
import {toToolName} from '../util/tool-names.ts';
import type {Verifier} from '../verification/verifier.ts';
import type {FanOutUnit} from './detection.ts';
import type {ProjectFiles} from './meant-files.ts';
import {type FanOutWork, isClosing, PartRuns, type PartRunsDeps} from './part-runs.ts';
import {createPreview, type FanOutPlan, type FanOutSettings, type GetCost, nameFiles, partition} from './plan.ts';
import {hasQuantifier} from './quantifiers.ts';
import {describeCutOff, FAN_OUT_VERSION, isCutOff, isDone, readFanOuts} from './state.ts';

/** Finds and undoes the changes of a fan-out. */
export interface FanOutChanges {
  /**
   * Returns absolute paths of the files that these agents changed and that are still different.
   * @param session an earlier session
   */
  changed(agents: readonly string[], session?: string): Promise<readonly string[]>;
  /** @param session an earlier session */
  undoAll(agents: readonly string[], label: string, session?: string): Promise<RestoredFiles>;
}

interface FanOutDeps extends PartRunsDeps {
  readonly settings: FanOutSettings;
  readonly interactive: boolean;
  readonly agents: AgentCatalog;
  readonly chooseModel: (agent: AgentDefinition) => Pick<FanOutPlan, 'model' | 'warnings'>;
  readonly permissionMode: () => PermissionMode;
  readonly questions: Questions;
  readonly emit: Emit;
  readonly listFiles: () => Promise<ProjectFiles>;
  readonly changes: FanOutChanges;
  readonly clock: Clock;
  readonly sessionId: () => string;
  readonly verifier: Verifier;
  /** Creates the caller that runs the checks as this agent. */
  readonly createChecker: (agentId: string) => Caller;
  readonly getCost?: GetCost;
  /**
   * Decides all edits together before any file is changed. When it returns undefined, the parts decide.
   * @throws MiniCcError with the reason when the change would be incomplete
   */
  readonly decideEdits?: (plan: FanOutPlan, signal: AbortSignal) => Promise<readonly PlannedEdit[] | undefined>;
}

/** A fan-out, and the session whose journal has it. */
interface FoundFanOut {
  readonly stored: StoredFanOut;
  readonly session: string;
}

export interface ApprovedFanOut {
  readonly plan: FanOutPlan;
  /** Whether a person approved it. */
  readonly allowed: boolean;
  /** Fan-out that was cut off, which this one continues. */
  readonly earlier?: FoundFanOut;
}

/** Prompts about fewer files are not split. */
const LEAST_FILES = 3;
const AGENT = 'code';

export class FanOuts {
  readonly #results: SubagentResults[] = [];

  constructor(private readonly deps: FanOutDeps) {}

  /** Results of the fan-outs that ended in this process. */
  get results(): readonly SubagentResults[] {
    return this.#results;
  }

  /** Decides whether a prompt is split. `withdrawn`: the person interrupted at the preview. */
  async consider(prompt: string, signal: AbortSignal): Promise<ApprovedFanOut | 'withdrawn' | undefined> {
    const {interactive, settings, agents, permissionMode, emit} = this.deps;
    const mode = settings.mode ?? (interactive ? 'ask' : 'off');
    if (mode === 'off' || permissionMode() === 'plan' || !hasQuantifier(prompt)) return undefined;
    const {detectFanOut} = await import('./detection.ts');
    const unit = detectFanOut(prompt);
    if (!unit) return undefined;
    const files = await this.#findFiles(prompt, undefined, unit).catch((error) => {
      if (!(error instanceof UsageError)) throw error;
      emit({type: 'notice', level: 'warning', text: `this prompt is not split: ${error.message}`});
      return [];
    });
    if (files.length < LEAST_FILES || !agents.get(AGENT)) return undefined;
    const plan = await this.#plan({instruction: prompt}, files, signal);
    if (mode === 'auto') return {plan, allowed: false};
    if (!interactive) {
      const text = `this prompt could be split over ${files.length} files, and nobody can be asked here: --fan-out auto splits it`;
      emit({type: 'notice', level: 'warning', text});
      return undefined;
    }
    const answer = await this.#ask(plan, 'no, the main agent does it alone', signal);
    return answer === 'no' ? undefined : answer;
  }

  /**
   * Plans a fan-out that was asked for explicitly. `no`: the person refused. `nobody`: the model asked, the settings
   * require a question, and no person can be asked.
   * @throws UsageError for files or tools that are wrong
   */
  async request(
    request: FanOutRequest,
    signal: AbortSignal,
    by: 'person' | 'model' | 'program',
  ): Promise<ApprovedFanOut | 'no' | 'nobody' | 'withdrawn'> {
    const {interactive, settings, root} = this.deps;
    const instruction = request.instruction.trim();
    if (instruction === '') throw new UsageError('A fan-out needs an instruction: what to do in each file');
    const {detectFanOut} = await import('./detection.ts');
    const files = await this.#findFiles(instruction, request.files, detectFanOut(instruction));
    if (files.length === 0) throw new UsageError(`No file in ${root} is meant by: ${instruction}`);
    const plan = await this.#plan({...request, instruction}, files, signal);
    if (settings.mode === 'auto' || (by !== 'model' && !interactive)) return {plan, allowed: false};
    return interactive ? this.#ask(plan, 'no', signal) : 'nobody';
  }

  async #findFiles(instruction: string, names: readonly string[] | undefined, unit: FanOutUnit | undefined) {
    const {resolveFiles} = await import('./meant-files.ts');
    return resolveFiles(instruction, names, await this.deps.listFiles(), this.deps.root, unit);
  }

  /** Returns the fan-out that was cut off, or whose parts did not all succeed. @throws UsageError when there is none */
  resume(): ApprovedFanOut {
    const found = this.#findOpen();
    if (!found) throw new UsageError('There is no fan-out to go on with. /fanout shows the last one.');
    const {instruction, parts, tools, edits, allowed} = found.stored;
    const files = parts.flatMap((part) => part.files);
    const plan = {...this.#createPlan({instruction, tools}, files), parts: parts.map((part) => part.files), edits};
    return {plan, allowed, earlier: found};
  }

  /** Carries out a fan-out. Failures of its runs are in the report. @throws the file system's error for the journal */
  async run(approved: ApprovedFanOut, signal: AbortSignal, callId?: string): Promise<FanOutReport> {
    const {journal, clock, verifier, createChecker} = this.deps;
    const {plan, allowed, earlier} = approved;
    if (callId !== undefined) await this.deps.manager.admitRuns(plan.parts.length, signal);
    const isSame = earlier?.session === this.deps.sessionId();
    const id = earlier && isSame ? earlier.stored.id : randomUUID();
    const work: FanOutWork = {id, plan, allowed, signal, ...(callId !== undefined && {callId})};
    const before = earlier?.stored.parts ?? plan.parts.map((files) => ({files}));
    if (!isSame) this.#noteStart(work, before, earlier);
    const runs = new PartRuns(work, this.deps, before);
    const checker = `${id}-checks`;
    journal.append({type: 'agent', id, agentId: checker});
    const verify = await verifier.begin(createChecker(checker), signal);
    const startedAt = clock.now();
    await runs.runParts(before.flatMap((part, index) => (isDone(part) ? [] : [index])));
    const wallMs = clock.now() - startedAt;
    const outside = [...(earlier?.stored.outside ?? []), ...runs.outside];
    if (outside.length > 0 && !signal.aborted) await runs.runOutside(outside);
    const checks = verify && !signal.aborted ? await runs.verify(verify) : [];
    return this.#report(work, runs, {wallMs, outside: outside.length, checks});
  }

  /** Returns the last fan-out of this session. */
  last(): StoredFanOut | undefined {
    return readFanOuts(this.deps.journal.read()).at(-1);
  }

  /** At the start of a session, describes which parts of a fan-out that was cut off are done. */
  describeCutOff(): string | undefined {
    const found = this.#findOpen();
    return found && isCutOff(found.stored) ? describeCutOff(found.stored) : undefined;
  }

  /** Undoes everything that the last fan-out changed. @throws UsageError when there is none */
  async undo(): Promise<RestoredFiles & {readonly fanOut: StoredFanOut}> {
    const {journal, changes} = this.deps;
    const fanOut = readFanOuts(journal.read()).findLast(({undone}) => !undone);
    const open = fanOut ? undefined : this.#findOpen();
    const stored = fanOut ?? open?.stored;
    if (!stored) throw new UsageError('There is no fan-out to take back.');
    const restored = [await changes.undoAll(stored.agents, '/fanout undo', open?.session)];
    for (const earlier of this.#listEarlier(stored)) {
      restored.push(await changes.undoAll(earlier.stored.agents, '/fanout undo', earlier.session));
    }
    journal.append({type: 'undone', id: stored.id}, open?.session);
    return {
      fanOut: stored,
      restored: restored.flatMap((each) => each.restored),
      left: restored.flatMap((each) => each.left),
      gaps: restored[0]!.gaps,
    };
  }

  #createPlan({instruction, tools, timeoutSeconds}: FanOutRequest, files: readonly string[]): FanOutPlan {
    const {settings, agents, chooseModel, tools: known} = this.deps;
    const agent = agents.get(AGENT);
    if (!agent) throw new UsageError(`A fan-out runs the agent ${AGENT}, which subagents.allowAgents does not allow`);
    const toolNames = known.map(({name}) => name);
    const named = (tools ?? settings.tools).map((tool) => toToolName(tool, known));
    const unknown = named.filter((tool) => !toolNames.includes(tool));
    if (unknown.length > 0 || named.length === 0) {
      throw new UsageError(
        `The tools of a fan-out are among ${toolNames.join(', ')}, not ${unknown.join(', ') || 'none'}`,
      );
    }
    const parts = partition(files, settings);
    return {instruction, files, parts, agent, tools: named, ...chooseModel(agent), timeoutSeconds};
  }

  async #plan(request: FanOutRequest, files: readonly string[], signal: AbortSignal): Promise<FanOutPlan> {
    const plan = this.#createPlan(request, files);
    return {...plan, edits: await this.deps.decideEdits?.(plan, signal)};
  }

  async #ask(plan: FanOutPlan, no: string, signal: AbortSignal): Promise<ApprovedFanOut | 'no' | 'withdrawn'> {
    const {questions, emit, getCost} = this.deps;
    const answer = await questions.ask(await createPreview(plan, no, getCost), emit, signal);
    if (typeof answer === 'string') return 'withdrawn';
    return answer.choice === 'yes' ? {plan, allowed: true} : 'no';
  }

  #findOpen(): FoundFanOut | undefined {
    const {journal, sessionId} = this.deps;
    const own = this.last();
    if (own) {
      const isOpen = !own.undone && (own.report === undefined || own.parts.some((part) => !isDone(part)));
      return isOpen ? {stored: own, session: sessionId()} : undefined;
    }
    for (const session of journal.earlierSessions()) {
      const stored = readFanOuts(journal.read(session)).at(-1);
      if (stored) return isCutOff(stored) ? {stored, session} : undefined;
    }
    return undefined;
  }

  /** Lists the fan-outs of earlier sessions that this one continues, the latest first. */
  #listEarlier(of: StoredFanOut | undefined): readonly FoundFanOut[] {
    if (!of?.continues) return [];
    const {session, id} = of.continues;
    const stored = readFanOuts(this.deps.journal.read(session)).find((each) => each.id === id);
    return stored ? [{stored, session}, ...this.#listEarlier(stored)] : [];
  }

  #noteStart({id, plan, allowed}: FanOutWork, parts: readonly FanOutPart[], earlier: FoundFanOut | undefined): void {
    const {journal, clock} = this.deps;
    const {instruction, tools, edits} = plan;
    const continues: FanOutName | undefined = earlier && {session: earlier.session, id: earlier.stored.id};
    journal.append({
      type: 'plan',
      version: FAN_OUT_VERSION,
      id,
      at: clock.wallNow(),
      instruction,
      parts,
      tools,
      allowed,
      ...(edits && {edits}),
      ...(continues && {continues}),
    });
    if (continues) journal.append({type: 'continued', id: continues.id}, continues.session);
  }

  async #report(
    {id, plan: {instruction}, signal}: FanOutWork,
    runs: PartRuns,
    facts: {
      readonly wallMs: number;
      readonly outside: number;
      readonly checks: readonly string[];
    },
  ): Promise<FanOutReport> {
    const {journal, changes} = this.deps;
    const {parts, sumMs, tokens} = runs;
    const own = readFanOuts(journal.read()).find((each) => each.id === id);
    const found = await changes.changed(own?.agents ?? []);
    const before = await Promise.all(
      this.#listEarlier(own).map(({stored, session}) => changes.changed(stored.agents, session)),
    );
    const changed = [...new Set([...found, ...before.flat()])];
    const successful = parts.filter(isDone).length;
    const results = {total: parts.length, successful, failed: parts.length - successful, filesModified: changed.length};
    const line = formatSummary({results, wallMs: facts.wallMs, sumMs, tokens});
    const text = [
      line,
      ...parts.flatMap(describePartEnd),
      ...(facts.outside > 0
        ? [`${formatCount(facts.outside, 'change')} outside of the parts: one run did them in order`]
        : []),
      ...runs.problems,
      ...facts.checks,
      ...(changed.length > 0 ? ['/fanout undo takes all of it back.'] : []),
    ].join('\n');
    if (!isClosing(signal)) journal.append({type: 'end', id, report: {line, text, results}});
    this.#results.push(results);
    return {id, instruction, parts, line, text, results, changed};
  }
}

function describePartEnd({files, outcome, reason}: FanOutPart, index: number): string[] {
  if (outcome === 'success') return [];
  const words =
    outcome === 'timeout' || outcome === 'stopped'
      ? (reason ?? outcome)
      : outcome === 'limit'
        ? formatLimit(reason ?? 'unknown')
        : `failed: ${reason ?? 'unknown'}`;
  return [`part ${index + 1} ${words} (${nameFiles(files)})`];
}

interface Totals {
  readonly results: SubagentResults;
  /**
   * Milliseconds from the start of the first part to the end of the last one. `sumMs` is the time of all parts
   * together.
   */
  readonly wallMs: number;
  readonly sumMs: number;
  readonly tokens: number;
}

/** Formats `fan-out: 3 agents · 3 ok · 9 files changed · 18.4s, sum of parts 47.2s, 2.6× · tokens 15.2k`. */
export function formatSummary({results, wallMs, sumMs, tokens}: Totals): string {
  const {total, successful, failed, filesModified} = results;
  const ratio = wallMs > 0 ? `, ${(sumMs / wallMs).toFixed(1)}×` : '';
  return [
    `fan-out: ${formatCount(total, 'agent')}`,
    `${successful} ok`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${formatCount(filesModified, 'file')} changed`,
    `${formatDuration(wallMs)}, sum of parts ${formatDuration(sumMs)}${ratio}`,
    `tokens ${formatTokens(tokens)}`,
  ].join(' · ');
}
