import type { ComponentProps } from 'react';
import { Glyph } from '../glyphs/glyph.tsx';
import type { GlyphName } from '../glyphs/glyph-paths.ts';
import styles from './button.module.css';
import { PressButton } from './press-button.tsx';

interface Props extends Omit<ComponentProps<typeof PressButton>, 'className'> {
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  glyph?: GlyphName;
}

/** A button; one with a glyph only needs an `aria-label`. */
export function Button({ kind = 'plain', glyph, children, ...props }: Props) {
  const isIcon = children === undefined;
  return (
    <PressButton {...props} className={`${styles.button} ${styles[kind] ?? ''} ${isIcon ? styles.icon : ''}`}>
      {glyph && <Glyph name={glyph} />}
      {children}
    </PressButton>
  );
}
