import { createSignal } from '../shared/signal.ts';

/** Settings of one person in one browser. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  density: 'normal' | 'dense';
  zone: 'local' | 'utc';
  /** States differ by glyph and hatching only. */
  withoutColour: boolean;
  /** Single keys are shortcuts. */
  letterKeys: boolean;
}

const KEY = 'pipeline.preferences';
const DEFAULTS: Preferences = {
  theme: 'system',
  density: 'normal',
  zone: 'local',
  withoutColour: false,
  letterKeys: true,
};
const CHOICES = { theme: ['system', 'light', 'dark'], density: ['normal', 'dense'], zone: ['local', 'utc'] } as const;

/** Returns the stored preferences; what is missing or unknown is the default. */
export function parsePreferences(text: string | null): Preferences {
  let stored: Partial<Record<keyof Preferences, unknown>> = {};
  try {
    stored = { ...JSON.parse(text ?? '{}') };
  } catch {
    return DEFAULTS;
  }
  const choice = <Name extends keyof typeof CHOICES>(name: Name): Preferences[Name] =>
    (CHOICES[name] as readonly unknown[]).includes(stored[name]) ? (stored[name] as Preferences[Name]) : DEFAULTS[name];
  return {
    theme: choice('theme'),
    density: choice('density'),
    zone: choice('zone'),
    withoutColour: stored.withoutColour === true,
    letterKeys: stored.letterKeys !== false,
  };
}

/** A browser may refuse storage; the preferences then last as long as the page. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const preferences = createSignal<Preferences>(DEFAULTS);
/** The theme that is shown: the chosen one, or that of the system. */
export const shownTheme = createSignal<'light' | 'dark'>('light');

/** Loads the preferences and applies them to the document; follows changes of other tabs. */
export function startPreferences(): void {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const apply = (): void => {
    const { theme, density, withoutColour } = preferences.get();
    const shown = theme === 'system' ? (system.matches ? 'dark' : 'light') : theme;
    Object.assign(document.documentElement.dataset, { theme: shown, density, colour: withoutColour ? 'off' : 'on' });
    shownTheme.set(shown);
  };
  system.addEventListener('change', apply);
  preferences.subscribe(apply);
  preferences.set(parsePreferences(stored()));
  apply();
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key === KEY) preferences.set(parsePreferences(newValue));
  });
}

export function setPreference<Name extends keyof Preferences>(name: Name, value: Preferences[Name]): void {
  const next = { ...preferences.get(), [name]: value };
  preferences.set(next);
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Without storage the setting lasts as long as the page.
  }
}
