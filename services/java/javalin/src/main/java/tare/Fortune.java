package tare;

/** A row of a page; public, since the template's class is in a package of its own. */
public record Fortune(int id, String message) {}
