/** A command, parsed once, when it is first needed. */
import {type ParsedCommand, parseCommand} from './command-parser.ts';
import {CommandWalk, type PermitsPart} from './command-walk.ts';
import {NotProven} from './shell-words.ts';

export async function unlessNotProven<T>(work: () => Promise<T>): Promise<T | NotProven> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotProven) return error;
    throw error;
  }
}

export class CommandReading {
  #parsed: Promise<ParsedCommand | NotProven> | undefined;

  constructor(readonly text: string) {}

  /** @returns the reason if it cannot be parsed */
  async parse(): Promise<ParsedCommand | NotProven> {
    this.#parsed ??= unlessNotProven(() => parseCommand(this.text));
    return this.#parsed;
  }

  /** @throws NotProven when a part is neither proven to only read nor permitted */
  async walk(permits: PermitsPart, isTolerant = false): Promise<CommandWalk> {
    const parsed = await this.parse();
    if (parsed instanceof NotProven) throw parsed;
    const walk = new CommandWalk(permits, isTolerant);
    walk.walk(parsed.script);
    return walk;
  }
}
