// Row: mistakes: no default function, and nobody says which else
export function other() {}
