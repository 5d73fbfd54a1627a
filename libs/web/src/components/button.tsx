import { type ButtonProps, Button as Pressable } from 'react-aria-components/Button';
import { Glyph } from '../glyphs/glyph.tsx';
import type { GlyphName } from '../glyphs/glyph-paths.ts';
import styles from './button.module.css';

interface Props extends Omit<ButtonProps, 'className' | 'style'> {
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  glyph?: GlyphName;
}

/** A button; one with a glyph only needs an `aria-label`. */
export function Button({ kind = 'plain', glyph, children, ...props }: Props) {
  const isIcon = children === undefined;
  return (
    <Pressable {...props} className={`${styles.button} ${styles[kind] ?? ''} ${isIcon ? styles.icon : ''}`}>
      {glyph && <Glyph name={glyph} />}
      {children as never}
    </Pressable>
  );
}
