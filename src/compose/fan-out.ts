/** Creates the fan-outs of a session according to the flag, the environment and the settings. */

import type {CodeIndex} from '../code-index/contract.ts';
import type {Settings} from '../config/settings.ts';
import {FAN_OUT_MODES, type FanOutMode} from '../core/contract/fan-out.ts';
import type {Workspace} from '../core/contract/permission.ts';
import {FanOuts} from '../core/fan-out/fan-outs.ts';
import type {FanOutPlan, FanOutSettings} from '../core/fan-out/plan.ts';
import {createPermit} from '../core/permissions/decision.ts';
import {createFileLedger} from '../core/turn/file-ledger.ts';
import {systemClock} from '../core/turn/run-limits.ts';
import {MiniCcError, UsageError} from '../core/util/errors.ts';
import {formatMeant} from '../core/util/names.ts';
import {toToolName} from '../core/util/tool-names.ts';
import {plainRequest} from '../offline-model/words.ts';
import {listProjectFiles} from '../storage/project-files.ts';
import {createFanOutJournal} from '../storage/sessions/fan-out-journal.ts';
import {listFiles} from '../tools/search/file-index.ts';
import {AGENT_TOOLS} from './known-tools.ts';
import {createPriceList, type SessionOptions} from './options.ts';
import type {ComposedParts} from './runs.ts';

const DEFAULT_TOOLS = ['read_file', 'edit_file', 'write_file'];

/**
 * The command line wins over the environment, and the environment over the settings. @throws UsageError for an unknown
 * mode or tool
 */
function getFanOutSettings(
  {fanOut, env}: Pick<SessionOptions, 'fanOut' | 'env'>,
  settings: Settings,
  toolNames: readonly string[],
): FanOutSettings {
  const {mode, parts = 3, split = 'ceil', tools = DEFAULT_TOOLS, where = 'local'} = settings.fanOut ?? {};
  const queue = settings.subagents?.queue;
  if (where === 'workers' && !queue) {
    throw new UsageError('fanOut.where: workers needs subagents.queue, the address of a queue');
  }
  const names = tools.map((tool) => toToolName(tool, AGENT_TOOLS));
  const wrong = tools.find((_, index) => !toolNames.includes(names[index]!));
  if (wrong !== undefined) {
    throw new UsageError(`fanOut.tools: no tool ${JSON.stringify(wrong)}${formatMeant(wrong, toolNames)}`);
  }
  return {
    mode: fanOut ?? getMode(env.MINI_CC_FAN_OUT) ?? mode,
    parts,
    split,
    tools: names,
    where: queue ? where : 'local',
  };
}

function getMode(value: string | undefined): FanOutMode | undefined {
  if (value === undefined || value === '') return undefined;
  const mode = FAN_OUT_MODES.find((each) => each === value);
  if (!mode) throw new UsageError(`MINI_CC_FAN_OUT must be ask, auto or off, not ${JSON.stringify(value)}`);
  return mode;
}

/**
 * Decides the edits of a rename for the built-in model, which renames by the code index. This happens before the parts
 * start, because the index would see half of the change while they are at work. Undefined when the task is no rename of
 * a symbol.
 * @throws MiniCcError when the rename would be incomplete
 */
async function decideRename({instruction, model, files}: FanOutPlan, index: CodeIndex, signal: AbortSignal) {
  if (!model.offline) return undefined;
  const {parseRename} = await import('../offline-model/skills/rename/rename-request.ts');
  const request = parseRename(plainRequest(instruction));
  const {isWordForWord} = await import('../offline-model/skills/part.ts');
  if (!isWordForWord(instruction))
    throw new MiniCcError(
      'OFFLINE',
      'The offline model changes many files word for word only: "rename A to B in FOLDER/", "replace \\"a\\" with \\"b\\" in FOLDER/". This instruction needs a language model: set ANTHROPIC_API_KEY. Nothing was changed.',
    );
  if (!request || 'unclear' in request || !request.rename) return undefined;
  const {from, to} = request;
  const {verdict, edits, reasons, concerns} = await index.rename({from, to, within: files}, {signal});
  if (verdict === 'safe') return edits;
  const places = concerns.slice(0, 5).map(({path, line, why}) => `\n- ${path}:${line}: ${why}`);
  throw new MiniCcError('RENAME_REFUSED', `${reasons[0]} Nothing was changed.${places.join('')}`);
}

/** @throws UsageError for an unknown mode or tool */
export function createFanOuts({
  project: {options, root, env, redactor, settings},
  records: {store, emit},
  tools: {baseTools, indexes},
  agents: {agents},
  models: {state, chooser, budget},
  permissions: {questions, permits, workspace},
  changes: {changes, checkpoints, writeLog},
  runs: {manager, verifier},
}: ComposedParts): FanOuts {
  const toolNames = baseTools.map(({name}) => name);
  const prices = createPriceList(options, settings);
  const label = 'verification';
  const own: Workspace = {...workspace, cwd: root};
  return new FanOuts({
    manager,
    agents,
    questions,
    changes,
    verifier,
    emit,
    root,
    tools: baseTools,
    settings: getFanOutSettings(options, settings, toolNames),
    interactive: options.interactive,
    getCost: (model, usage) => prices.addCost(usage, model.name).cost_usd,
    decideEdits: (plan, signal) => decideRename(plan, indexes.for(root), signal),
    chooseModel: (agent) => chooser.choose(agent, {}),
    permissionMode: () => permits.policy.mode,
    journal: createFanOutJournal(
      store,
      () => state.conversation.id,
      (value) => redactor.values(value),
    ),
    listFiles: () => listProjectFiles(root, () => listFiles(root, env)),
    clock: options.clock ?? systemClock,
    sessionId: () => state.conversation.id,
    createChecker: (agentId) => ({
      agentId,
      label,
      emit,
      checkpoints,
      budget,
      workspace: own,
      tools: baseTools.filter(({name}) => name === 'bash'),
      model: state.model,
      files: createFileLedger(writeLog, label),
      output: state.conversation.output,
      permit: createPermit(permits, label, own, emit),
    }),
  });
}
