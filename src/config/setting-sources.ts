/** The settings files that `--setting-sources` names: without it, all of them are read. */
export const SETTING_SOURCES = ['user', 'project', 'local'] as const;

export type SettingSource = (typeof SETTING_SOURCES)[number];
