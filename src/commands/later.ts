/** Commands that this release does not have yet: they say so. /help does not list them. */
import type {Command} from '../core/session.ts';
import {NOT_YET, NOT_YET_AVAILABLE, notYet} from '../core/util/not-yet.ts';

export const laterCommands: readonly Command[] = NOT_YET.commands.map((name) => ({
  name,
  description: NOT_YET_AVAILABLE,
  run: () => ({ok: false, text: `${notYet(`/${name}`)}.`}),
}));
