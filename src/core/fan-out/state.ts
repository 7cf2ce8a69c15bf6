/** Reads the fan-outs of a session from their journal. */
import type {FanOutLine, FanOutPart, StoredFanOut} from '../contract/fan-out.ts';
import {cutEnd} from '../util/text.ts';

/** Version of the journal's format, which the first line of each fan-out has. */
export const FAN_OUT_VERSION = 1;

type Mutable<T> = {-readonly [K in keyof T]: T[K]};

/** Returns the fan-outs, oldest first. A fan-out of a newer version is left out. */
export function readFanOuts(lines: readonly FanOutLine[]): readonly StoredFanOut[] {
  const found = new Map<string, Mutable<StoredFanOut>>();
  for (const line of lines) {
    if (line.type === 'plan') {
      if (line.version > FAN_OUT_VERSION) continue;
      const {type: _, version: _v, ...plan} = line;
      found.set(line.id, {...plan, agents: [], outside: [], undone: false, continued: false});
      continue;
    }
    const fanOut = found.get(line.id);
    if (fanOut) apply(line, fanOut);
  }
  return [...found.values()];
}

function apply(line: Exclude<FanOutLine, {type: 'plan'}>, fanOut: Mutable<StoredFanOut>): void {
  const change = (part: number, facts: Partial<FanOutPart>) => {
    fanOut.parts = fanOut.parts.map((each, index) => (index === part ? {...each, ...facts} : each));
  };
  switch (line.type) {
    case 'part':
      fanOut.agents = [...fanOut.agents, line.runId];
      change(line.part, {runId: line.runId});
      break;
    case 'part_end':
      fanOut.outside = [...fanOut.outside, ...line.outside];
      change(line.part, {outcome: line.outcome, ...(line.reason && {reason: line.reason})});
      break;
    case 'agent':
      fanOut.agents = [...fanOut.agents, line.agentId];
      break;
    case 'end':
      fanOut.report = line.report;
      break;
    default:
      fanOut[line.type] = true;
  }
}

/** Whether the fan-out was cut off before its report, and was neither undone nor continued since. */
export function isCutOff({report, undone, continued}: StoredFanOut): boolean {
  return report === undefined && !undone && !continued;
}

export function isDone({outcome}: FanOutPart): boolean {
  return outcome === 'success';
}

/** Formats `The fan-out "…" was cut off: of 3 parts part 1 is done, parts 2 and 3 are missing. /fanout continue …`. */
export function describeCutOff({parts, instruction}: StoredFanOut): string {
  const list = (wanted: boolean) =>
    parts.flatMap((part, index) => (isDone(part) === wanted ? [String(index + 1)] : []));
  const name = (numbers: readonly string[]) =>
    numbers.length === 0
      ? 'no part is'
      : `part${numbers.length === 1 ? '' : 's'} ${new Intl.ListFormat('en').format(numbers)} ${numbers.length === 1 ? 'is' : 'are'}`;
  const missing = list(false);
  const rest = missing.length === 0 ? 'only its end is missing' : `${name(missing)} missing`;
  return `The fan-out "${cutEnd(instruction, 60)}" was cut off: of ${parts.length} parts ${name(list(true))} done, ${rest}. /fanout continue goes on with it; /fanout undo takes it back.`;
}
