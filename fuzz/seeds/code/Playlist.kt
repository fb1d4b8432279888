o@file:JvmName("Playlists")

package org.example.music

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.map

/** The most songs that a list can have. */
const val MAX_SONGS = 500

private val logger by lazy { Logger("playlist") }

typealias Rating = Int

/** What can be played. */
sealed interface Playable {
    val title: String

    fun play(at: Int = 0)

    fun describe(): String {
        return "$title (${this::class.simpleName})"
    }
}

@Serializable
data class Song(
    override val title: String,
    val seconds: Int,
    @Transient var rating: Rating? = null,
) : Playable {
    init {
        require(seconds > 0) { "a song of $seconds seconds" }
    }

    constructor(title: String) : this(title, 180)

    override fun play(at: Int) {
        logger.info("playing $title from $at")
    }

    companion object {
        val SILENCE = Song("Silence", 1)

        @JvmStatic
        fun parse(line: String): Song {
            val (title, seconds) = line.split(';')
            return Song(title.trim(), seconds.toInt())
        }
    }
}

enum class Order(val label: String) {
    BY_TITLE("title") {
        override fun compare(a: Song, b: Song): Int = a.title.compareTo(b.title)
    },
    BY_LENGTH("length") {
        override fun compare(a: Song, b: Song): Int = a.seconds - b.seconds
    };

    abstract fun compare(a: Song, b: Song): Int
}

/**
 * Songs in an order.
 *
 * @param T what is in it
 */
open class Playlist<T>(
    private val songs: MutableList<T> = mutableListOf(),
) : Iterable<T> by songs where T : Playable, T : Comparable<T> {

    var name: String = ""
        set(value) {
            field = value.trim()
        }

    val isFull: Boolean
        get() = songs.size >= MAX_SONGS

    private var position = 0

    operator fun get(index: Int): T = songs[index]

    @Throws(IllegalStateException::class)
    fun add(song: T): Boolean {
        check(!isFull) { "no room for ${song.title}" }
        return songs.add(song)
    }

    fun add(song: T, times: Int) = repeat(times) { add(song) }

    suspend inline fun <reified R : Any> mapAll(crossinline transform: suspend (T) -> R): List<R> {
        return songs.map { song -> transform(song) }
    }

    inner class Cursor {
        fun next(): T? {
            return songs.getOrNull(position++)
        }
    }

    object Factory {
        fun <T> empty(): Playlist<T> where T : Playable, T : Comparable<T> = Playlist()
    }
}

infix fun Song.isLongerThan(other: Song): Boolean = seconds > other.seconds

val Playlist<*>.summary: String
    get() = "$name: ${count()} songs"

fun <T : Playable> Flow<T>.titles(): Flow<String> = map { it.title }

fun main() {
    val text = """
        class NotAClass {
            fun notAFunction() {}
        }
    """.trimIndent()
    val listener = object : Runnable {
        override fun run() {
            println(text)
        }
    }
    listener.run()
}
