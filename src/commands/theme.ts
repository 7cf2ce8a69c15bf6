/** Implements `/theme`, which sets the colours of the screen for this session and later ones. */
import {THEME_NAMES, type ThemeName} from '../core/contract/events.ts';
import {formatMeant} from '../core/util/names.ts';
import type {SlashCommands} from './shared/command-deps.ts';

const MEANING: Readonly<Record<ThemeName, string>> = {
  auto: 'dark or light, as the background of the terminal',
  terminal: 'the palette of the terminal',
  dark: 'for a dark background',
  light: 'for a light background',
  'dark-colorblind': 'dark, with blue and orange in place of green and red',
  'light-colorblind': 'light, with blue and orange in place of green and red',
};

export const slashCommands: SlashCommands = ({saveTheme}) => [
  {
    name: 'theme',
    description: `colours of the screen: /theme [${THEME_NAMES.join('|')}]`,
    async run({args, info, request, ask}) {
      const before = info.theme ?? 'auto';
      const typed = args === '' ? await chooseTheme() : args.toLowerCase();
      if (typed === undefined) return {ok: true, text: `Theme: ${before} (${MEANING[before]})`};
      const theme = THEME_NAMES.find((name) => name === typed);
      if (!theme) {
        const hint = formatMeant(typed, THEME_NAMES);
        const text = `There is no theme ${JSON.stringify(args)}${hint}: ${THEME_NAMES.join(', ')}`;
        return {ok: false, text};
      }
      request({type: 'set_theme', theme});
      return {ok: true, text: `Theme: ${theme} (${MEANING[theme]}). Kept in ${await saveTheme(theme)}`};

      async function chooseTheme(): Promise<string | undefined> {
        const answer = await ask({
          title: 'Which theme?',
          escape: before,
          list: THEME_NAMES.map((name) => ({
            choice: name,
            label: `${name}${name === before ? ' (now)' : ''}`,
            info: MEANING[name],
            sample: name,
          })),
        });
        return answer?.choice === before ? undefined : answer?.choice;
      }
    },
  },
];
